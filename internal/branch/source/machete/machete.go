// Package machete reads the branch layout of git-machete: the file "machete" in git's directory, in
// which a branch's parent is the nearest line above with one level less.
//
// With machete.worktree.useTopLevelMacheteFile set to false, each worktree has a file of its
// own.
//
// The format is that of git-machete 3.46: one branch a line up to the first space, an
// annotation after it, comments that begin with "#". The first indented line sets the
// unit of indentation.
package machete

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/copse-dev/copse/internal/branch/source"
	"github.com/copse-dev/copse/internal/git/gitconfig"
	"github.com/copse-dev/copse/internal/lazyregexp"
	"github.com/copse-dev/copse/internal/regular"
)

// Reader reads the layout.
type Reader struct{}

// Name returns the tool's name.
func (Reader) Name() string { return "git-machete" }

// Files returns the files that the layout can be in, and the configuration that decides.
func (Reader) Files(r source.Repo) []string {
	return []string{shared(r), own(r), filepath.Join(r.CommonDir(), "config")}
}

func shared(r source.Repo) string { return filepath.Join(r.CommonDir(), "machete") }

func own(r source.Repo) string { return filepath.Join(r.GitDir(), "machete") }

// Read reads the layout.
func (m Reader) Read(_ context.Context, r source.Repo) (source.Record, error) {
	paths, err := paths(r)
	if err != nil {
		return source.Record{}, err
	}
	for _, path := range paths {
		data, err := regular.ReadInDir(filepath.Dir(path), filepath.Base(path), source.MaxFile)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return source.Record{}, err
		}
		record, err := Parse(string(data))
		record.Source = m.Name()
		return record, err
	}
	return source.Record{Source: m.Name()}, nil
}

// paths returns the files of the layout; the first that exists counts.
func paths(r source.Repo) ([]string, error) {
	if r.GitDir() == r.CommonDir() {
		return []string{shared(r)}, nil
	}
	text, err := gitconfig.Read(filepath.Join(r.CommonDir(), "config"))
	if err != nil {
		return nil, err
	}
	config, err := gitconfig.Parse(text)
	if err != nil {
		return nil, err
	}
	both, err := config.Bool("machete.worktree.usetoplevelmachetefile", true)
	_, set := config.Value("machete.worktree.usetoplevelmachetefile")
	switch {
	case err != nil || set && both:
		return []string{shared(r)}, nil //nolint:nilerr // git-machete takes what is no truth value for true
	case set:
		return []string{own(r)}, nil
	}
	return []string{own(r), shared(r)}, nil // the user's configuration can say so, too
}

// number finds the pull request in an annotation, as git-machete writes it.
var number = lazyregexp.New(`\bPR #([1-9][0-9]{0,9})\b`)

// Parse reads the text of a layout.
func Parse(text string) (source.Record, error) {
	var record source.Record
	var above []string // the branch of each level
	listed := map[string]bool{}
	unit := ""
	n := 0
	for line := range strings.SplitSeq(text, "\n") {
		n++
		line = strings.TrimRight(line, "\r")
		rest := strings.TrimLeft(line, " \t")
		if rest == "" || rest[0] == '#' {
			continue
		}
		indent := line[:len(line)-len(rest)]
		if unit == "" {
			unit = indent
		}
		level := 0
		if indent != "" {
			level = len(indent) / len(unit)
			if strings.Repeat(unit, level) != indent || level > len(above) {
				return source.Record{}, fmt.Errorf("line %d is indented wrongly", n)
			}
		}
		name, annotation, _ := strings.Cut(rest, " ")
		if !source.Valid(name) {
			return source.Record{}, fmt.Errorf("line %d is not a branch", n)
		}
		if listed[name] {
			return source.Record{}, fmt.Errorf("line %d repeats a branch", n)
		}
		listed[name] = true
		if len(record.Edges) > source.MaxEdges || len(record.Trunks) > source.MaxEdges {
			break // more are ignored
		}
		above = append(above[:level], name)
		if level == 0 {
			record.Trunks = append(record.Trunks, name)
			continue
		}
		record.Edges = append(record.Edges, source.Edge{Child: name, Parent: above[level-1], PR: pullRequest(annotation)})
	}
	return record, nil
}

// pullRequest returns the number in an annotation, 0 for none.
func pullRequest(annotation string) uint32 {
	m := number.Get().FindStringSubmatch(annotation)
	if m == nil {
		return 0
	}
	n, err := strconv.ParseUint(m[1], 10, 32)
	if err != nil {
		return 0
	}
	return uint32(n)
}
