package hazard

import (
	"bytes"
	"fmt"
	"io/fs"
	"strings"

	"github.com/copse-dev/copse/internal/git/gitconfig"
	"github.com/copse-dev/copse/internal/regular"
)

// PatternsError reports files of patterns that take git too long to compare with names.
type PatternsError struct{ Problem string }

func (e *PatternsError) Error() string { return e.Problem }

const (
	// maxEffort limits the effort of comparing one name with all patterns.
	maxEffort = 50_000
	// maxDoubling is the number of "**" in a pattern from which on the effort is too large alone.
	maxDoubling = 15
)

// effort is the effort of comparing one name with patterns: one for each pattern, and twice as much
// for each "**" in it, because git tries to match each of them with nothing and with something.
type effort int

// add adds the patterns of a file. It returns an error if the effort is too large.
func (e *effort) add(path string) error {
	text, err := regular.Read(path, medium)
	if err != nil {
		return nil // look reports what is special, and git the rest
	}
	for line := range bytes.Lines(text) {
		if err := e.pattern(path, bytes.Count(line, []byte("**"))); err != nil {
			return err
		}
	}
	return nil
}

// pattern adds a pattern of the file at path, with a number of "**" in it.
func (e *effort) pattern(path string, stars int) error {
	if stars >= maxDoubling {
		return patterns(path, fmt.Sprintf("it has a pattern with %d times \"**\"", stars))
	}
	if *e += 1 << stars; *e > maxEffort {
		return patterns(path, "with this file, there are too many patterns for git to compare")
	}
	return nil
}

// Settings examines the keys and values of the configuration at path, which git compares with the
// branch and with paths each time it starts: the conditions of includes, for example. It returns a
// [*PatternsError] in an [*fs.PathError] if that takes git too long.
func Settings(path string, cfg gitconfig.Config) error {
	var e effort
	for _, setting := range cfg {
		for _, text := range []string{setting.Key, setting.Value, setting.Older} {
			if stars := strings.Count(text, "**"); stars > 0 {
				if err := e.pattern(path, stars); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func patterns(path, problem string) error {
	return &fs.PathError{Op: "compare", Path: path, Err: &PatternsError{problem}}
}
