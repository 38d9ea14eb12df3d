// Package gittown reads the lineage of git-town: the keys git-town-branch.NAME.parent of
// the repository's own git configuration, and its main and perennial branches.
package gittown

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/copse-dev/copse/internal/branch/source"
	"github.com/copse-dev/copse/internal/git/gitconfig"
)

// Reader reads the lineage.
type Reader struct{}

// Name returns the tool's name.
func (Reader) Name() string { return "git-town" }

// Files returns the configuration.
func (Reader) Files(r source.Repo) []string { return []string{filepath.Join(r.CommonDir(), "config")} }

// Read reads the lineage.
func (g Reader) Read(_ context.Context, r source.Repo) (source.Record, error) {
	text, err := gitconfig.Read(filepath.Join(r.CommonDir(), "config"))
	if err != nil {
		return source.Record{}, err
	}
	config, err := gitconfig.Parse(text)
	if err != nil {
		return source.Record{}, err
	}
	record := Lineage(config)
	record.Source = g.Name()
	return record, nil
}

// Lineage returns what a configuration says.
func Lineage(config gitconfig.Config) source.Record {
	var record source.Record
	parents := map[string]int{} // by child: the index of its edge
	var main string
	var perennial []string
	for _, e := range config {
		switch e.Key {
		case "git-town.main-branch":
			main = e.Value
			continue
		case "git-town.perennial-branches":
			perennial = strings.Fields(e.Value)
			continue
		}
		rest, ok := strings.CutPrefix(e.Key, "git-town-branch.")
		if !ok {
			continue
		}
		child, ok := strings.CutSuffix(rest, ".parent")
		if !ok || !source.Valid(child) || !source.Valid(e.Value) {
			continue
		}
		edge := source.Edge{Child: child, Parent: e.Value}
		if i, again := parents[child]; again {
			record.Edges[i] = edge // the last value counts
			continue
		}
		parents[child] = len(record.Edges)
		record.Edges = append(record.Edges, edge)
	}
	for _, trunk := range append([]string{main}, perennial...) {
		if source.Valid(trunk) {
			record.Trunks = append(record.Trunks, trunk)
		}
	}
	return record
}
