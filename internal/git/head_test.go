package git_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/git/gittest"
	"github.com/copse-dev/copse/internal/git/refstore"
)

func TestHeadBroken(t *testing.T) {
	t.Parallel()
	g := gittest.New(t)
	dir := g.Init()
	g.Commit(dir, "first")
	r := discover(t, g, dir)
	gittest.Write(t, join(dir, ".git", "refs", "heads", "main"), "")
	head, err := r.Head(t.Context())
	if !errors.Is(err, refstore.ErrBroken) || head != (git.Head{Branch: "main"}) || !strings.Contains(err.Error(), "refs/heads/main") {
		t.Errorf("Head = %+v, %v; want the branch, and an error that names it", head, err)
	}
	for _, text := range []string{"", "garbage\n", "ref: refs/heads/.invalid\n", "ref: refs/remotes/origin/none\n", "ref: ../../x\n"} {
		gittest.Write(t, join(dir, ".git", "HEAD"), text)
		if head, err := r.Head(t.Context()); !errors.Is(err, refstore.ErrBroken) || head != (git.Head{}) {
			t.Errorf("HEAD %q: Head = %+v, %v; want ErrBroken", text, head, err)
		}
	}
	// A ref that is not a branch is like a commit.
	commit := g.Commit(g.Init(), "first")
	gittest.Write(t, join(dir, ".git", "refs", "remotes", "origin", "x"), commit+"\n")
	gittest.Write(t, join(dir, ".git", "HEAD"), "ref: refs/remotes/origin/x\n")
	if head, err := r.Head(t.Context()); err != nil || head != (git.Head{Detached: true, Commit: commit}) {
		t.Errorf("Head = %+v, %v; want detached at %s", head, err, commit)
	}
}

// A repository whose files have moved to another place is not a damaged one.
func TestHeadMoved(t *testing.T) {
	t.Parallel()
	g := gittest.New(t)
	dir := g.Init()
	g.Commit(dir, "one")
	r := discover(t, g, dir)
	g.Run(dir, "init", "-q", "--separate-git-dir", filepath.Join(filepath.Dir(dir), "moved"))
	_, err := r.Refs().Head(t.Context())
	if broken, ok := errors.AsType[*git.BrokenError](err); !ok || broken.Remedy != "if the change is yours, start copse again" {
		t.Errorf("got %v", err)
	}
	if err := os.Remove(filepath.Join(dir, ".git")); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Refs().Head(t.Context()); !errors.Is(err, git.ErrNotRepository) {
		t.Errorf("got %v", err)
	}
}

// One Repo sees every change, in the main worktree and in a linked one, in
// either format of refs, and after a change of the format.
func TestChangesAreSeen(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"files", "reftable"} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			g := gittest.New(t)
			var args []string
			if format != "files" {
				args = append(args, "--ref-format="+format)
			}
			dir := g.Init(args...)
			r := discover(t, g, dir)
			var linked *git.Repo
			check := func(what string) {
				t.Helper()
				for _, r := range []*git.Repo{r, linked} {
					if r == nil {
						continue
					}
					head, err := r.Head(t.Context())
					if err != nil {
						t.Fatalf("%s: %v", what, err)
					}
					if diff := cmp.Diff(gitHead(g, r.Root()), head); diff != "" {
						t.Errorf("%s: HEAD (-git +got):\n%s", what, diff)
					}
					names, err := r.LocalBranches(t.Context())
					if want := gitBranches(g, r.Root()); err != nil || !slices.Equal(names, want) {
						t.Errorf("%s: branches are %q, %v; want %q", what, names, err, want)
					}
				}
			}
			check("unborn")
			g.Commit(dir, "first")
			check("commit")
			path := join(filepath.Dir(dir), "linked")
			g.Run(dir, "worktree", "add", "-q", path)
			linked = discover(t, g, path)
			check("worktree")
			for _, args := range [][]string{
				{"branch", "x"},
				{"checkout", "-q", "x"},
				{"commit", "-q", "--allow-empty", "-m", "second"},
				{"branch", "-m", "x", "y/z"},
				{"pack-refs", "--all"},
				{"-C", path, "checkout", "-q", "--detach"},
				{"-C", path, "commit", "-q", "--allow-empty", "-m", "third"},
				{"branch", "-D", "main"},
				{"checkout", "-q", "--orphan", "new"},
			} {
				g.Run(dir, args...)
				check(strings.Join(args, " "))
			}
		})
	}
}

func TestConvertedToReftable(t *testing.T) {
	t.Parallel()
	g := gittest.New(t)
	if !g.AtLeast(2, 46) {
		t.Skip("git before 2.46 cannot convert refs")
	}
	dir := g.Init()
	g.Run(dir, "config", "core.logAllRefUpdates", "false") // which git 2.47 cannot convert
	g.Commit(dir, "first")
	r := discover(t, g, dir)
	for _, format := range []string{"reftable", "files"} {
		g.Run(dir, "refs", "migrate", "--ref-format="+format)
		g.Commit(dir, "another")
		g.Run(dir, "branch", "in-"+format)
		head, err := r.Head(t.Context())
		if want := gitHead(g, dir); err != nil || head != want {
			t.Errorf("%s: Head = %+v, %v; want %+v", format, head, err, want)
		}
		names, err := r.LocalBranches(t.Context())
		if want := gitBranches(g, dir); err != nil || !slices.Equal(names, want) {
			t.Errorf("%s: branches are %q, %v; want %q", format, names, err, want)
		}
	}
}

// Where something changes, there is a directory to watch, and its name is in the list.
func TestWatches(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		args []string
		main []git.Watch // with paths relative to .git
		more []git.Watch // of a linked worktree
	}{
		"files": {
			main: []git.Watch{
				{Path: ".", Names: []string{"HEAD", "packed-refs"}},
				{Path: "refs/heads", Recursive: true},
			},
			more: []git.Watch{
				{Path: "worktrees/linked", Names: []string{"HEAD"}},
				{Path: ".", Names: []string{"packed-refs"}},
				{Path: "refs/heads", Recursive: true},
			},
		},
		"reftable": {
			args: []string{"--ref-format=reftable"},
			main: []git.Watch{{Path: "reftable", Names: []string{"tables.list"}}},
			more: []git.Watch{
				{Path: "reftable", Names: []string{"tables.list"}},
				{Path: "worktrees/linked/reftable", Names: []string{"tables.list"}},
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := gittest.New(t)
			dir := g.Init(tt.args...)
			g.Commit(dir, "first")
			linked := join(filepath.Dir(dir), "linked")
			g.Run(dir, "worktree", "add", "-q", linked)
			for start, want := range map[string][]git.Watch{dir: tt.main, linked: tt.more} {
				for i := range want {
					want[i].Path = join(dir, ".git", filepath.FromSlash(want[i].Path))
					if fi, err := os.Stat(want[i].Path); err != nil || !fi.IsDir() {
						t.Errorf("%s is no folder: %v", want[i].Path, err)
					}
				}
				if diff := cmp.Diff(want, discover(t, g, start).Watches()); diff != "" {
					t.Errorf("from %s (-want +got):\n%s", start, diff)
				}
			}
		})
	}
}

// A ref is never missed, in whatever form git keeps it.
func TestNoRefs(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"files", "packed", "reftable"} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			g := gittest.New(t)
			var args []string
			if format == "reftable" {
				args = append(args, "--ref-format=reftable")
			}
			dir := g.Init(args...)
			g.Run(dir, "commit", "-q", "--allow-empty", "-m", "first")
			g.Run(dir, "worktree", "add", "-q", filepath.Join(dir, "linked"))
			for _, at := range []string{dir, filepath.Join(dir, "linked")} {
				r := discover(t, g, at)
				for _, name := range []string{"refs/one/data", "refs/all/"} {
					if got := r.NoRefs(name); got != (format != "reftable") {
						t.Errorf("%s before: %t", name, got)
					}
				}
			}
			g.Run(dir, "update-ref", "refs/one/data", "HEAD")
			g.Run(dir, "update-ref", "refs/one/data2/x", "HEAD")
			g.Run(dir, "update-ref", "refs/all/a/b", "HEAD")
			if format == "packed" {
				g.Run(dir, "pack-refs", "--all")
			}
			for _, at := range []string{dir, filepath.Join(dir, "linked")} {
				r := discover(t, g, at)
				for name, want := range map[string]bool{
					"refs/one/data": false, "refs/all/": false, "refs/all/a/b": false, "refs/one/": false,
					"refs/one/dat": format != "reftable", "refs/all/a/c": format != "reftable", "refs/al/": format != "reftable",
				} {
					if got := r.NoRefs(name); got != want {
						t.Errorf("%s in %s: %t, want %t", name, at, got, want)
					}
				}
			}
		})
	}
}
