// Package gittown reads the lineage of git-town: the keys git-town-branch.NAME.parent of
// the repository's own git configuration, and its main and perennial branches, which can
// also be in git-town's own file in the worktree. That file never has a lineage.
package gittown

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/copse-dev/copse/internal/branch/source"
	"github.com/copse-dev/copse/internal/git/gitconfig"
	"github.com/copse-dev/copse/internal/rooted"
)

// Reader reads the lineage.
type Reader struct{}

// Name returns the tool's name.
func (Reader) Name() string { return "git-town" }

// files returns the names of git-town's own file; the first that exists is used.
func files() []string {
	return []string{"git-town.toml", ".git-town.toml", ".git-branches.toml", "git-branches.toml"}
}

// maxFile is the maximum size of git-town's file.
const maxFile = 256 << 10

// Files returns git's configuration and git-town's files.
func (Reader) Files(r source.Repo) []string {
	paths := []string{filepath.Join(r.CommonDir(), "config")}
	if r.Root() != "" {
		for _, name := range files() {
			paths = append(paths, filepath.Join(r.Root(), name))
		}
	}
	return paths
}

// Read reads the lineage.
func (Reader) Read(_ context.Context, r source.Repo) (source.Record, error) {
	text, err := gitconfig.Read(filepath.Join(r.CommonDir(), "config"))
	if err != nil {
		return source.Record{}, err
	}
	config, err := gitconfig.Parse(text)
	if err != nil {
		return source.Record{}, err
	}
	record := Lineage(config)
	if len(record.Edges) == 0 || r.Root() == "" {
		return record, nil // a file that comes with the repository is not enough alone
	}
	trunks, err := ownFile(r.Root())
	if err != nil {
		record.Notes = append(record.Notes, err.Error())
	}
	record.Trunks = append(record.Trunks, trunks...)
	return record, nil
}

// ownFile returns the main and perennial branches of git-town's file.
func ownFile(root string) ([]string, error) {
	for _, name := range files() {
		data, err := rooted.Directory(root).Read(name, maxFile)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("%s cannot be read", name)
		}
		trunks, ok := Trunks(data)
		if !ok {
			return nil, fmt.Errorf("%s is not the TOML that git-town writes", name)
		}
		return trunks, nil
	}
	return nil, nil
}

// Trunks returns the main and perennial branches of a file of git-town.
func Trunks(data []byte) (names []string, ok bool) {
	var file struct {
		Branches struct {
			Main       string   `toml:"main"`
			Perennials []string `toml:"perennials"`
		} `toml:"branches"`
	}
	if toml.Unmarshal(data, &file) != nil {
		return nil, false
	}
	return valid(append([]string{file.Branches.Main}, file.Branches.Perennials...)), true
}

// valid returns the names that can be branches.
func valid(names []string) []string {
	var found []string
	for _, name := range names {
		if source.Valid(name) {
			found = append(found, name)
		}
	}
	return found
}

// Lineage returns the lineage in a configuration.
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
		if !ok {
			continue
		}
		if !source.Valid(child) || !source.Valid(e.Value) {
			record.Notes = append(record.Notes, fmt.Sprintf("the parent of %q is not a branch", child))
			continue
		}
		edge := source.Edge{Child: child, Parent: e.Value}
		if i, again := parents[child]; again {
			record.Edges[i] = edge // the last value wins
			continue
		}
		parents[child] = len(record.Edges)
		record.Edges = append(record.Edges, edge)
	}
	record.Trunks = valid(append([]string{main}, perennial...))
	return record
}
