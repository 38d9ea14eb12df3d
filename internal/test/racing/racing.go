// Package racing reads a project's files while a stranger swaps them for links that point outside it.
//
// Each [Opener] reads one file as a command or tool does. [Try] calls it repeatedly while the file,
// or a directory above it, alternates between the real one and a link to a file outside. Nothing
// outside may ever be read or written.
package racing

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"

	"github.com/copse-dev/copse/internal/lockedstore"
	"github.com/copse-dev/copse/internal/recipe"
	"github.com/copse-dev/copse/internal/test/bombs"
	"github.com/copse-dev/copse/internal/test/stdio"
	"github.com/copse-dev/copse/internal/xec"
)

// secret is in every file outside, and in none inside.
const secret = "S3CRET-OUTSIDE"

// Opener reads a file of the project.
type Opener struct {
	Name string
	// Files are what is swapped, relative to the root: the file, and a directory above it.
	Files []string
	// text is what the file outside has, so that it could be taken for the real one.
	text string
	// read returns what was read, or said of it.
	read func(ctx context.Context, r *reader) (string, error)
	// program is one that must be installed.
	program string
}

// reader is what openers read with.
type reader struct {
	root   string
	server *stdio.Server
	just   *recipe.Justfile
}

func tool(name, args string) func(context.Context, *reader) (string, error) {
	return func(_ context.Context, r *reader) (string, error) {
		line, err := r.server.Request("tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, name, args))
		if err == nil && bytes.Contains(line, []byte(`"isError":true`)) {
			err = errRefused
		}
		return string(line), err
	}
}

var errRefused = errors.New("the tool refused")

// Openers returns those of each kind of file that a repository brings.
func Openers() []Opener {
	const item = "---\nid: \"1\"\ntitle: " + secret + "\ntype: task\nstatus: todo\niteration: default\n---\n" + secret + "\n"
	return []Opener{
		{Name: "read_file", Files: []string{"docs/a.txt", "docs"}, text: secret, read: tool("read_file", `{"path":"docs/a.txt"}`)},
		{Name: "a work item", Files: []string{".tic/items/1.md", ".tic/items", ".tic"}, text: item, read: tool("show_item", `{"id":1}`)},
		{
			Name: "the configuration of work items", Files: []string{".tic/config.yml", ".tic"}, read: tool("get_config", `{}`),
			text: "types: [task]\nstatuses: [todo, " + secret + "]\ncurrent_iteration: default\niterations: [default]\nnext_id: 2\n",
		},
		{
			Name: "branch state", Files: []string{".twig/state.json", ".twig"}, read: tool("get_branch_metadata", `{"branch":"main"}`),
			text: `{"version":1,"updated_at":"2026-01-01T00:00:00Z","worktrees":[],"branches":{"main":{"name":"main","jira_issue":"` + secret + `","github_pr":null,"created_at":"2026-01-01T00:00:00Z"}},"dependencies":[],"root_branches":["main"]}`,
		},
		{
			Name: "the registry", Files: []string{".agent/climpt/registry.json", ".agent/climpt", ".agent"}, read: tool("search", `{"query":"commit message"}`),
			text: `{"version":"1","description":"x","tools":{"availableConfigs":["git"],"commands":[{"c1":"git","c2":"write","c3":"commit-message","description":"commit message ` + secret + `"}]}}`,
		},
		{
			Name: "a template", Files: []string{".agent/climpt/prompts/git/write/commit-message/f_default.md", ".agent/climpt/prompts/git", ".agent/climpt/prompts"},
			text: "---\nc1: git\nc2: write\nc3: commit-message\n---\n" + secret + "\n", read: tool("execute", `{"agent":"climpt","c1":"git","c2":"write","c3":"commit-message"}`),
		},
		{
			Name: "a client's configuration", Files: []string{".cursor/mcp.json", ".cursor"}, text: `{"mcpServers":{"` + secret + `":{}}}`,
			read: func(_ context.Context, r *reader) (string, error) {
				file := lockedstore.ForeignIn(r.root, filepath.Join(r.root, ".cursor", "mcp.json"))
				text, err := file.Read()
				if err == nil {
					err = file.Replace(text, []byte("{}\n\n"))
				}
				return string(text), err
			},
		},
		{
			Name: "the justfile", Files: []string{"justfile"}, text: secret + ":\n  @echo " + secret + "\n", program: "just",
			read: func(ctx context.Context, r *reader) (string, error) {
				recipes, err := r.just.Recipes(ctx)
				return fmt.Sprint(recipes, err), err
			},
		},
		{
			Name: "an imported justfile", Files: []string{"docs/more.just", "docs"}, text: secret + ":\n  @echo " + secret + "\n", program: "just",
			read: func(ctx context.Context, r *reader) (string, error) {
				recipes, err := r.just.Recipes(ctx)
				return fmt.Sprint(recipes, err), err
			},
		},
	}
}

// Outcome is the result of a race.
type Outcome struct {
	Reads int
	// Read is how many had the real file, Refused how many an error.
	Read, Refused int
	// Escapes are reads that had something from outside, or wrote there.
	Escapes int
	// Swaps is the number of times that the file was replaced during the reads.
	Swaps int64
	Note  string
}

// Lab is a project with a server for it.
type Lab struct {
	base, root string
	reader     reader
}

// New makes a project in an empty directory and starts its server. bin has the programs.
func New(ctx context.Context, base, bin string) (*Lab, error) {
	w, err := bombs.New(ctx, base, bin)
	if err != nil {
		return nil, err
	}
	l := &Lab{base: base, root: w.Root()}
	if err := errors.Join(
		os.Mkdir(filepath.Join(l.root, "docs"), 0o755), os.WriteFile(filepath.Join(l.root, "docs", "a.txt"), []byte("inside\n"), 0o600),
		os.WriteFile(filepath.Join(l.root, "docs", "more.just"), []byte("more:\n  @echo more\n"), 0o600),
		os.WriteFile(filepath.Join(l.root, "justfile"), []byte("import 'docs/more.just'\nhello:\n  @echo hello\n"), 0o600),
	); err != nil {
		return nil, err
	}
	l.reader.root = l.root
	l.reader.just = recipe.New(l.root, xec.Env(os.Environ()), recipe.NewJournal("", l.root), recipe.Options{})
	l.reader.server, err = stdio.SpawnWith(ctx, l.root, w.Environ(), filepath.Join(bin, "copse"), "mcp", "serve")
	if err != nil {
		return nil, err
	}
	return l, os.CopyFS(l.pristine(), os.DirFS(l.root))
}

// pristine returns the path of the copy of the project as New made it.
func (l *Lab) pristine() string { return filepath.Join(l.base, "pristine") }

// reset restores a file or directory to its original state. A reader that also writes can leave the
// link of an earlier race in place.
func (l *Lab) reset(file string) error {
	file = filepath.FromSlash(file)
	from, to := filepath.Join(l.pristine(), file), filepath.Join(l.root, file)
	if err := os.RemoveAll(to); err != nil {
		return err
	}
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	if info.IsDir() {
		return os.CopyFS(to, os.DirFS(from))
	}
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, text, info.Mode().Perm())
}

// Close ends the server.
func (l *Lab) Close() error {
	l.reader.just.Close()
	return l.reader.server.Stop()
}

// Has reports whether what an opener needs is installed.
func (l *Lab) Has(o Opener) bool {
	if o.program == "" {
		return true
	}
	_, err := xec.Env(os.Environ()).LookPath(o.program)
	return err == nil
}

// Try calls an opener a number of times: once while a link is in place of one file, and then while
// the two are swapped.
func (l *Lab) Try(ctx context.Context, o Opener, file string, reads int) (out Outcome, err error) {
	if err := l.reset(o.Files[len(o.Files)-1]); err != nil {
		return out, err
	}
	path := filepath.Join(l.root, filepath.FromSlash(file))
	// Outside is a tree like the real one, with another file in it.
	outside := filepath.Join(l.base, "outside")
	target := filepath.Join(outside, filepath.FromSlash(file))
	bait := filepath.Join(outside, filepath.FromSlash(o.Files[0]))
	defer os.RemoveAll(outside)
	if err := os.CopyFS(outside, os.DirFS(l.root)); err != nil {
		return out, err
	}
	if err := os.WriteFile(bait, []byte(o.text), 0o600); err != nil {
		return out, err
	}
	before, err := listing(outside)
	if err != nil {
		return out, err
	}
	read := func() {
		out.Reads++
		text, err := o.read(ctx, &l.reader)
		switch {
		case strings.Contains(text, secret) || err != nil && strings.Contains(err.Error(), secret):
			out.Escapes++
			out.Note = fmt.Sprintf("%.300s", text)
		case err != nil:
			out.Refused++
		default:
			out.Read++
		}
	}
	// A link that stays is the easiest one to notice: the race that follows is won by chance.
	if err := still(path, target, read); err != nil {
		return out, err
	}
	swapping, stop := context.WithCancel(ctx)
	defer stop()
	var swaps atomic.Int64
	done := make(chan error, 1)
	go func() { done <- swap(swapping, path, target, &swaps) }()
	for out.Reads < reads && ctx.Err() == nil {
		read()
	}
	stop()
	if err := <-done; err != nil {
		return out, err
	}
	out.Swaps = swaps.Load()
	after, err := listing(outside)
	if err == nil && after != before {
		out.Escapes++
		out.Note = "outside was written: " + after
	}
	return out, err
}

// still calls read while a link is in place of a file or directory.
func still(path, target string, read func()) error {
	aside := path + ".real"
	if err := errors.Join(os.Rename(path, aside), os.Symlink(target, path)); err != nil {
		return err
	}
	read()
	return errors.Join(os.RemoveAll(path), os.Rename(aside, path))
}

// swap puts a link in place of a file or directory, and the real one back, until the context ends.
// The real one is there in the end.
func swap(ctx context.Context, path, target string, swaps *atomic.Int64) error {
	aside, link := path+".real", path+".link"
	defer func() { _ = os.Remove(link) }()
	// The writer may have created something at the path while it was empty.
	put := func(from string) error {
		for {
			if err := os.RemoveAll(path); err != nil {
				return err
			}
			if err := os.Rename(from, path); err == nil || errors.Is(err, os.ErrNotExist) {
				return err
			}
		}
	}
	for ctx.Err() == nil {
		if err := os.Symlink(target, link); err != nil && !errors.Is(err, os.ErrExist) {
			return err
		}
		if err := os.Rename(path, aside); err != nil {
			return err
		}
		if err := put(link); err != nil {
			return err
		}
		if err := put(aside); err != nil {
			return err
		}
		swaps.Add(2)
	}
	return nil
}

// listing returns all that is below a directory, with the content.
func listing(dir string) (string, error) {
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			fmt.Fprintln(&b, path)
			return err
		}
		text, err := os.ReadFile(path)
		fmt.Fprintf(&b, "%s %q\n", path, text)
		return err
	})
	return b.String(), err
}
