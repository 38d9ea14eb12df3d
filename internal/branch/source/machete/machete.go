// Package machete reads the branch layout of git-machete: the file "machete" in git's directory, in
// which a branch's parent is the nearest line above with one level less.
//
// The format is that of git-machete 3.46: one branch per line up to the first space, an annotation
// after it, comments that begin with "#". The first indented line sets the unit of indentation.
package machete

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/copse-dev/copse/internal/branch/source"
	"github.com/copse-dev/copse/internal/regular"
)

// Reader reads the layout.
type Reader struct{}

// Name returns the tool's name.
func (Reader) Name() string { return "git-machete" }

// Files returns the file of the layout.
func (Reader) Files(r source.Repo) []string { return []string{path(r)} }

func path(r source.Repo) string { return filepath.Join(r.CommonDir(), "machete") }

// Read reads the layout.
func (m Reader) Read(_ context.Context, r source.Repo) (source.Record, error) {
	data, err := regular.Read(path(r), source.MaxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return source.Record{Source: m.Name()}, nil
	}
	if err != nil {
		return source.Record{}, err
	}
	record, err := Parse(string(data))
	record.Source = m.Name()
	return record, err
}

// number finds the pull request in an annotation, as git-machete writes it.
var number = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\bPR #([1-9][0-9]{0,9})\b`) })

// Parse reads the text of a layout.
func Parse(text string) (source.Record, error) {
	var record source.Record
	var above []string // the branch of each level
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
		if len(record.Edges) > source.MaxEdges || len(record.Trunks) > source.MaxEdges {
			break // more are ignored
		}
		above = append(above[:level], name)
		if level == 0 {
			record.Trunks = append(record.Trunks, name)
			continue
		}
		e := source.Edge{Child: name, Parent: above[level-1]}
		if m := number().FindStringSubmatch(annotation); m != nil {
			if pr, err := strconv.ParseUint(m[1], 10, 32); err == nil {
				e.PR = uint32(pr)
			}
		}
		record.Edges = append(record.Edges, e)
	}
	return record, nil
}
