package full_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/git/gittest"
	"github.com/copse-dev/copse/internal/toolset"
	"github.com/copse-dev/copse/internal/wiring/full"
)

// A link in the place of a server's worktree, as a commit can have it, does not move its root.
func TestRootBecomesALink(t *testing.T) {
	t.Parallel()
	g := gittest.New(t)
	root := g.Init()
	g.Commit(root, "start")
	inside, outside := filepath.Join(root, ".worktrees", "x"), t.TempDir()
	g.Run(root, "worktree", "add", "-q", "-b", "x", inside)
	gittest.Write(t, filepath.Join(outside, "key"), "SECRET")
	gittest.Write(t, filepath.Join(outside, "justfile"), "SECRET:\n  echo SECRET\n")
	gittest.Write(t, filepath.Join(outside, ".agent", "climpt", "registry.json"), `{"tools":{"commands":[{"c1":"SECRET","c2":"a","c3":"b"}]}}`)
	sets := follow(t, inside, "").Toolsets()
	workspace := full.Find(t.Context(), app.EmptyEnv(), inside)
	all := func(each func(what, answer string)) {
		ctx := t.Context()
		text := func(s string, err error) string { return fmt.Sprint(s, err) }
		complete := func(arguments []toolset.Argument) {
			for _, a := range arguments {
				if a.Complete != nil {
					values, err := a.Complete(ctx, "", nil)
					each("completion of "+a.Name, fmt.Sprint(values, err))
				}
			}
		}
		for _, set := range sets {
			for _, tool := range set.Tools {
				answer, _ := json.Marshal(tool.Call(ctx, json.RawMessage(`{"path":"key"}`)))
				each(tool.Name, string(answer))
				if tool.Begin != nil {
					answer, _ := tool.Begin(ctx, json.RawMessage(`{"task_name":"SECRET"}`))
					each(tool.Name, fmt.Sprint(answer))
				}
			}
			for _, p := range set.Prompts {
				each(p.Name, text(p.Get(ctx, nil)))
				complete(p.Arguments)
			}
			for _, r := range set.Resources {
				each(r.URI, text(r.Read(ctx)))
			}
			for _, m := range set.Templates {
				each(m.URITemplate, text(m.Read(ctx, map[string]string{"agent": "climpt", "c1": "SECRET", "c2": "a", "c3": "b"})))
				complete(m.Variables)
			}
			if set.Offer != nil {
				each("", fmt.Sprint(len(set.Offer(ctx).Prompts)))
			}
			if set.Skills != nil {
				each("", fmt.Sprint(len(set.Skills(context.WithoutCancel(ctx)))))
			}
		}
	}
	const refusal = "its path now leads elsewhere"
	all(func(what, answer string) {
		if strings.Contains(answer, refusal) {
			t.Errorf("before: %s: %s", what, answer)
		}
	})
	if err := os.Rename(inside, filepath.Join(root, "aside")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, inside); err != nil {
		t.Skip(err)
	}
	if err := workspace.Moved(); err == nil {
		t.Error("the page does not notice it")
	}
	asked := 0
	all(func(what, answer string) {
		asked++
		if what == "" && answer != "0" || what != "" && !strings.Contains(answer, refusal) || strings.Contains(answer, "SECRET") {
			t.Errorf("%s: %s", what, answer)
		}
	})
	if asked < 50 {
		t.Errorf("only %d functions", asked)
	}
}

// Another repository in the place of the one that a server works in gets none of its calls, neither by a
// link nor in the place of the main worktree.
func TestGitDirectoryBecomesAnother(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		replaced string // below the main worktree
		link     bool
		main     bool // the server works in the main worktree, not in a linked one
	}{
		"link for the main worktree":          {".", true, false},
		"link for its git directory":          {".git", true, false},
		"repository in place of the main one": {".", false, false},
		"git directory in its place":          {".git", false, false},
		"link for the server's git directory": {".git", true, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := gittest.New(t)
			root, other, linked := g.Init(), g.Init(), filepath.Join(t.TempDir(), "linked")
			for _, repo := range []string{root, other} {
				g.Commit(repo, "start")
			}
			g.Run(root, "worktree", "add", "-q", "-b", "x", linked)
			at := linked
			if tt.main {
				at = root
			}
			tools := func(each func(name, answer string)) {
				t.Helper()
				for _, set := range follow(t, at, "").Toolsets() {
					for _, tool := range set.Tools {
						answer, err := json.Marshal(tool.Call(t.Context(), json.RawMessage(`{}`)))
						if err != nil {
							t.Fatal(err)
						}
						each(tool.Name, string(answer))
					}
				}
			}
			tools(func(name, answer string) {
				if strings.Contains(answer, "has changed since") {
					t.Errorf("before: %s: %s", name, answer)
				}
			})
			sets := follow(t, at, "").Toolsets()
			path := filepath.Join(root, tt.replaced)
			if err := os.Rename(path, filepath.Join(t.TempDir(), "aside")); err != nil {
				t.Skip(err)
			}
			replace := os.Rename
			if tt.link {
				replace = os.Symlink
			}
			if err := replace(filepath.Join(other, tt.replaced), path); err != nil {
				t.Skip(err)
			}
			for _, set := range sets {
				for _, tool := range set.Tools {
					// The name of the directory, which can be a stranger's, is marked.
					answer := tool.Call(t.Context(), json.RawMessage(`{}`))
					if text := strings.ReplaceAll(strings.Join(answer.Text, ""), `\"`, `"`); !strings.Contains(text, `", has changed since the server started`) {
						t.Errorf("%s: %v", tool.Name, answer)
					}
				}
			}
		})
	}
}

// A link above git's directory leads to another one, too, and so does another directory in its place.
func TestOtherGitDirectory(t *testing.T) {
	t.Parallel()
	t.Run("link", func(t *testing.T) { t.Parallel(); otherGitDirectory(t, os.Symlink) })
	t.Run("directory", func(t *testing.T) { t.Parallel(); otherGitDirectory(t, os.Rename) })
}

func otherGitDirectory(t *testing.T, replace func(other, path string) error) {
	t.Helper()
	g := gittest.New(t)
	base := gittest.Dir(t)
	clone := func(name string) (root string) {
		t.Helper()
		root = filepath.Join(base, "work-"+name)
		g.Run(base, "init", "-q", "--separate-git-dir", filepath.Join(base, "data-"+name, "git"), root)
		g.Run(root, "config", "core.worktree", root) // the two name each other
		g.Commit(root, "start")
		return root
	}
	if err := errors.Join(os.Mkdir(filepath.Join(base, "data-own"), 0o700), os.Mkdir(filepath.Join(base, "data-other"), 0o700)); err != nil {
		t.Fatal(err)
	}
	root := clone("own")
	clone("other")
	sets := follow(t, root, "").Toolsets()
	data := filepath.Join(base, "data-own")
	if err := os.Rename(data, filepath.Join(base, "aside")); err != nil {
		t.Skip(err)
	}
	if err := replace(filepath.Join(base, "data-other"), data); err != nil {
		t.Skip(err)
	}
	for _, set := range sets {
		for _, tool := range set.Tools {
			answer := tool.Call(t.Context(), json.RawMessage(`{}`))
			if !strings.Contains(strings.Join(answer.Text, ""), "has changed since the server started") {
				t.Errorf("%s: %v", tool.Name, answer)
			}
		}
	}
}
