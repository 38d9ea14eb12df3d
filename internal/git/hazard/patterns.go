package hazard

import (
	"bytes"
	"fmt"
	"io/fs"
	"strings"

	"github.com/copse-dev/copse/internal/git/gitconfig"
	"github.com/copse-dev/copse/internal/regular"
)

// ContentError reports a file that git would take too long to read, or with which it would read files
// that are not checked.
type ContentError struct{ Problem, Remedy string }

func (e *ContentError) Error() string { return e.Problem }

const (
	// maxEffort limits the effort of comparing one name with all patterns.
	maxEffort = 50_000
	// maxDoubling is the number of "**" in a pattern from which on the effort is too large alone.
	maxDoubling = 15
)

// effort is the effort of comparing one name with patterns: one for each pattern, and twice as much
// for each "**" in it, because git tries to match each of them with nothing and with something. For
// each "*", git goes through the name again.
type effort int

// stars are the wildcards of a pattern: a run of more than one star is a double one.
type stars struct{ single, double int }

func count(pattern string) stars {
	var s stars
	for i := 0; i < len(pattern); i++ {
		if pattern[i] != '*' {
			continue
		}
		start := i
		for i+1 < len(pattern) && pattern[i+1] == '*' {
			i++
		}
		if i == start {
			s.single++
		} else {
			s.double++
		}
	}
	return s
}

// add adds the patterns of a file. It returns an error if the file, or the effort, is too large.
func (e *effort) add(path string) error {
	text, err := regular.Read(path, medium)
	if err != nil {
		return special(err)
	}
	for line := range bytes.Lines(text) {
		if line[0] == '#' {
			continue
		}
		if err := e.pattern(path, count(string(line))); err != nil {
			return err
		}
	}
	return nil
}

// pattern adds a pattern of the file at path.
func (e *effort) pattern(path string, s stars) error {
	if s.double >= maxDoubling {
		return patterns(path, fmt.Sprintf("it has a pattern with %d times \"**\"", s.double))
	}
	// Patterns that people write have one or two. The others count more than they cost with a short
	// name.
	single := max(s.single*s.single/2, 1)
	if *e += effort(single << s.double); *e > maxEffort {
		return patterns(path, "with this file, there are too many patterns for git to compare")
	}
	return nil
}

// Settings examines the keys and values of the configuration at path, which git compares with the
// branch and with paths each time it starts: the conditions of includes, for example. It returns a
// [*ContentError] in an [*fs.PathError] if that takes git too long.
func Settings(path string, cfg gitconfig.Config) error {
	var e effort
	for _, setting := range cfg {
		condition := strings.HasPrefix(setting.Key, "includeif.")
		for i, text := range []string{setting.Key, setting.Value, setting.Older} {
			if s := count(text); s.double > 0 || condition && i == 0 && s.single > 0 {
				if err := e.pattern(path, s); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func patterns(path, problem string) error {
	return &fs.PathError{Op: "compare", Path: path, Err: &ContentError{"prevents git from finishing: " + problem, "remove patterns from it"}}
}
