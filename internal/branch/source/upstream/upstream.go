// Package upstream reads the records of git itself: branches whose upstream is a local branch, as "git
// switch --track" sets it.
package upstream

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/copse-dev/copse/internal/branch/source"
	"github.com/copse-dev/copse/internal/git/gitconfig"
	"github.com/copse-dev/copse/internal/git/refstore"
)

// Reader reads the upstream configuration.
type Reader struct{}

// Name returns the name of the source.
func (Reader) Name() string { return "upstream" }

// Files returns the configuration.
func (Reader) Files(r source.Repo) []string {
	return []string{filepath.Join(r.CommonDir(), "config")}
}

// Read reads the upstreams.
func (u Reader) Read(_ context.Context, r source.Repo) (source.Record, error) {
	text, err := gitconfig.Read(filepath.Join(r.CommonDir(), "config"))
	if err != nil {
		return source.Record{}, err
	}
	config, err := gitconfig.Parse(text)
	if err != nil {
		return source.Record{}, err
	}
	record := source.Record{Source: u.Name()}
	remote, merge := map[string]string{}, map[string]string{}
	var order []string
	for _, e := range config {
		rest, ok := strings.CutPrefix(e.Key, "branch.")
		if !ok {
			continue
		}
		if child, ok := strings.CutSuffix(rest, ".remote"); ok {
			remote[child] = e.Value
		}
		if child, ok := strings.CutSuffix(rest, ".merge"); ok {
			if _, again := merge[child]; !again {
				order = append(order, child)
			}
			merge[child] = e.Value
		}
	}
	for _, child := range order {
		parent, local := strings.CutPrefix(merge[child], refstore.BranchPrefix)
		switch {
		case !local || remote[child] != "." || parent == child:
		case source.Valid(child) && source.Valid(parent):
			record.Edges = append(record.Edges, source.Edge{Child: child, Parent: parent})
		default:
			record.Notes = append(record.Notes, fmt.Sprintf("the upstream of %q is not a branch", child))
		}
	}
	return record, nil
}
