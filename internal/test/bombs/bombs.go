// Package bombs replaces files that copse reads with files that never end, and observes copse.
//
// A [Bomb] is a named pipe, a device, or a huge or deeply nested file. A [Place] is the path of a
// file that copse reads. [World.Try] puts one bomb at one place, starts the server and the
// commands, and reports the time of the slowest answer and its memory. The tests of this package
// try and judge all of them; the command soak measures them.
package bombs

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Bomb is a file that is expensive to read, or endless.
type Bomb struct {
	Name string
	// Plant makes it at a path that does not exist.
	Plant func(path string) error
	// dir means that it suits the place of a directory, too.
	dir bool
	// fits reports whether the bomb suits a place; nil always does.
	fits func(Place) bool
}

const huge = 5 << 30

// All returns the bombs that this system supports.
func All() []Bomb {
	return append(special(),
		Bomb{Name: "sparse file of 5 GiB", Plant: func(path string) error {
			if err := os.WriteFile(path, nil, 0o600); err != nil {
				return err
			}
			return os.Truncate(path, huge)
		}},
		Bomb{Name: "nested aliases", Plant: write(aliases), fits: func(p Place) bool { return p.yaml }},
		Bomb{Name: "a million brackets", Plant: write(func() []byte { return bytes.Repeat([]byte("["), 1<<20) })},
	)
}

func write(text func() []byte) func(path string) error {
	return func(path string) error { return os.WriteFile(path, text(), 0o600) }
}

// aliases returns a small document that has 9^12 values, with a front matter's fences around it.
func aliases() []byte {
	var b bytes.Buffer
	b.WriteString("---\na0: &a0 lol\n")
	for i := range 12 {
		fmt.Fprintf(&b, "a%d: &a%d [%s]\n", i+1, i+1, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d,", i), 9), ","))
	}
	b.WriteString("---\n")
	return b.Bytes()
}

// Place is the place of a bomb.
type Place struct {
	Name string
	// Path is below the directory of the World; empty is that of the token.
	Path string
	// yaml means that the file is YAML, or begins with some.
	yaml bool
	// up means that only copse up reads it.
	up bool
	// dir means that it is a directory that copse lists.
	dir bool
}

// Lists reports whether copse lists the place as a directory. Only one bomb suits it.
func (p Place) Lists() bool { return p.dir }

// Fits reports whether a bomb suits the place.
func (p Place) Fits(b Bomb) bool { return (!p.dir || b.dir) && (b.fits == nil || b.fits(p)) }

// Places returns the files that copse reads and that somebody else may have written.
func Places() []Place {
	return []Place{
		{Name: ".twig/state.json", Path: "root/.twig/state.json"},
		{Name: ".tic/config.yml", Path: "root/.tic/config.yml", yaml: true},
		{Name: "a work item", Path: "root/.tic/items/1.md", yaml: true},
		{Name: "the registry of prompt commands", Path: "root/.agent/climpt/registry.json"},
		{Name: "a prompt template", Path: "root/.agent/climpt/prompts/git/write/commit-message/f_default.md", yaml: true},
		{Name: "a prompt command's configuration", Path: "root/.agent/climpt/config/registry_config.json"},
		{Name: ".copse.yml", Path: "root/.copse.yml", yaml: true},
		{Name: "the user's config.yml", Path: "home/.config/copse/config.yml", yaml: true},
		{Name: "a project's client configuration", Path: "root/.cursor/mcp.json"},
		{Name: "a user's client configuration", Path: "home/.cursor/mcp.json"},
		{Name: ".gitignore", Path: "root/.gitignore"},
		{Name: "the justfile", Path: "root/justfile"},
		{Name: "an imported justfile", Path: "root/more.just"},
		{Name: "a file that read_file reads", Path: "root/a.txt"},
		{Name: "netrc", Path: "home/.netrc"},
		{Name: "the ports of copse up", Path: "home/.local/state/copse/ports.json", up: true},
		{Name: "a token of copse up", up: true},
		{Name: ".git/HEAD", Path: "root/.git/HEAD"},
		{Name: ".git/config", Path: "root/.git/config"},
		{Name: ".git/packed-refs", Path: "root/.git/packed-refs"},
		{Name: ".git/commondir", Path: "root/.git/commondir"},
		{Name: ".git/index", Path: "root/.git/index"},
		{Name: ".git/info/attributes", Path: "root/.git/info/attributes"},
		{Name: ".git/info/exclude", Path: "root/.git/info/exclude"},
		{Name: ".gitattributes", Path: "root/.gitattributes"},
		{Name: "a branch", Path: "root/.git/refs/heads/topic"},

		directory("root/.git/worktrees"), directory("root/.git/refs"), directory("root/.git/refs/heads"), directory("root/.git/logs"),
		directory("root/.git/info"), directory("root/.git/objects/info"), directory("root/.git/objects/pack"), directory("root/.git/copse"),
		directory("root/.git/rebase-merge"), directory("root/.git/reftable"), directory("root/.tic"), directory("root/.tic/items"),
		directory("root/.tic/trash"), directory("root/.twig"), directory("root/.agent"), directory("root/.agent/climpt"),
		directory("root/.agent/climpt/prompts"), directory("root/.agent/climpt/prompts/git"), directory("root/.cursor"), directory("root/docs"),
		directory("home/.config/copse"), directory("home/.cache/copse"), directory("home/.local/state/copse"), directory("run/copse"),
	}
}

// directory returns the place of a directory.
func directory(path string) Place { return Place{Name: path, Path: path, dir: true} }

// plant replaces the file at path with the bomb. It returns a function that restores the
// file.
func plant(b Bomb, path string) (restore func() error, err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	const saved = ".before-the-bomb"
	aside := filepath.Join(filepath.Dir(path), saved)
	_, statErr := os.Lstat(path)
	if statErr == nil {
		if err := os.Rename(path, aside); err != nil {
			return nil, err
		}
	}
	restore = func() error {
		if err := os.RemoveAll(path); err != nil {
			return err
		}
		if statErr == nil {
			return os.Rename(aside, path)
		}
		return nil
	}
	if err := b.Plant(path); err != nil {
		return restore, fmt.Errorf("plant %s: %w", b.Name, err)
	}
	return restore, nil
}
