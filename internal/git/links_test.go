package git_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/git/gittest"
)

// A link in place of a file that git writes shows nothing of the file it leads to, neither as data
// nor in a message of git.
func TestLinksShowNothing(t *testing.T) {
	t.Parallel()
	const secret = "hunter2-password"
	for _, name := range []string{
		"HEAD", "packed-refs", "shallow", "commondir", "info/grafts", "objects/info/alternates",
		"MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "ORIG_HEAD", "FETCH_HEAD", "BISECT_START", "BISECT_LOG",
		"rebase-merge/head-name", "rebase-merge/onto", "rebase-apply/head-name", "sequencer/todo",
		"refs/heads/topic", "refs/replace/x", "logs/HEAD",
		"worktrees/linked/gitdir", "worktrees/linked/HEAD", "worktrees/linked/locked", "worktrees/linked/commondir",
	} {
		for i, text := range []string{secret, "refs/heads/" + secret, "ref: refs/heads/" + secret} {
			t.Run(fmt.Sprint(name, "/", i), func(t *testing.T) {
				t.Parallel()
				g := gittest.New(t)
				dir := g.Init()
				g.Commit(dir, "first")
				g.Run(dir, "worktree", "add", "-q", "-b", "linked", filepath.Join(t.TempDir(), "linked"))
				victim := filepath.Join(t.TempDir(), "netrc")
				gittest.Write(t, victim, text+"\n")
				path := filepath.Join(dir, ".git", filepath.FromSlash(name))
				if err := errors.Join(os.RemoveAll(path), os.MkdirAll(filepath.Dir(path), 0o700)); err != nil {
					t.Fatal(err)
				}
				if err := os.Symlink(victim, path); err != nil {
					t.Skip("no symbolic links here")
				}
				if shown := show(t, g, dir); strings.Contains(shown, secret) {
					t.Error(shown)
				}
			})
		}
	}
}

// A link in place of a file or a directory of git shows no name of another repository, whose files of the same
// name are as git writes them.
func TestLinksToOtherRepositories(t *testing.T) {
	t.Parallel()
	const secret = "hunter2-password"
	for _, name := range []string{"index", "rebase-merge", "rebase-apply", "sequencer", "MERGE_HEAD"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := gittest.New(t)
			other, dir := g.Init(), filepath.Join(t.TempDir(), "archive")
			gittest.Write(t, filepath.Join(other, secret), "a\n")
			g.Run(other, "add", ".")
			g.Commit(other, "first")
			head := g.Run(other, "rev-parse", "HEAD")
			gittest.Write(t, filepath.Join(other, ".git", "MERGE_HEAD"), head+"\n")
			for _, begun := range []string{"rebase-merge", "rebase-apply"} {
				gittest.Write(t, filepath.Join(other, ".git", begun, "head-name"), "refs/heads/"+secret+"\n")
				gittest.Write(t, filepath.Join(other, ".git", begun, "onto"), head+"\n")
			}
			gittest.Write(t, filepath.Join(other, ".git", "sequencer", "todo"), "pick "+head+" "+secret+"\n")
			g.Run(filepath.Dir(dir), "clone", "-q", "--shared", other, dir)
			g.Run(dir, "config", "status.renames", "false")
			g.Run(dir, "rm", "-q", secret)
			g.Commit(dir, "without it")
			path := filepath.Join(dir, ".git", name)
			if err := errors.Join(os.RemoveAll(path), os.Symlink(filepath.Join(other, ".git", name), path)); err != nil {
				t.Skip("no symbolic links here")
			}
			r, err := git.Discover(t.Context(), dir, git.Options{Env: g.Env})
			if err != nil {
				t.Fatal(err)
			}
			if o := r.Operation(); o != nil {
				t.Errorf("in progress: %v", o)
			}
			// git-new-workdir links files such as MERGE_HEAD.
			if status, err := r.Status(t.Context()); name != "MERGE_HEAD" && (err == nil || !strings.Contains(err.Error(), "symbolic link")) {
				t.Errorf("%+v, %v", status, err)
			}
		})
	}
}

// Nor does a link show the worktrees of another repository, or what is checked out there.
func TestLinksToOtherWorktrees(t *testing.T) {
	t.Parallel()
	const secret = "hunter2-password"
	for name, target := range map[string]string{
		"worktrees": "worktrees", "worktrees/" + secret: "worktrees/" + secret, "worktrees/linked/gitdir": "worktrees/" + secret + "/gitdir",
		"worktrees/linked/HEAD": "worktrees/" + secret + "/HEAD", "HEAD": "HEAD",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := gittest.New(t)
			other, dir := filepath.Join(t.TempDir(), "other"), g.Init()
			g.Commit(dir, "first")
			g.Run(filepath.Dir(other), "clone", "-q", dir, other)
			g.Run(other, "worktree", "add", "-q", "-b", "a-"+secret, filepath.Join(filepath.Dir(other), secret))
			g.Run(other, "checkout", "-q", "-b", "b-"+secret)
			linked := filepath.Join(t.TempDir(), "linked")
			g.Run(dir, "worktree", "add", "-q", "-b", "linked", linked)
			path := filepath.Join(dir, ".git", filepath.FromSlash(name))
			if err := errors.Join(os.RemoveAll(path), os.Symlink(filepath.Join(other, ".git", filepath.FromSlash(target)), path)); err != nil {
				t.Skip("no symbolic links here")
			}
			for _, from := range []string{dir, linked} {
				shown := strings.ReplaceAll(show(t, g, from), path, "")
				if strings.Contains(shown, secret) {
					t.Errorf("from %s: %s", from, shown)
				}
			}
		})
	}
}

// Git quotes what it does not understand in files of patterns, which people do replace by
// links and name in settings. Those lines are left out of its messages.
func TestPatternsShowNothing(t *testing.T) {
	t.Parallel()
	const secret = "hunter2-password"
	for title, plant := range map[string]func(g *gittest.Git, dir, victim string) error{
		"core.attributesFile": func(g *gittest.Git, dir, victim string) error {
			g.Run(dir, "config", "core.attributesFile", victim)
			return nil
		},
		"info/attributes": func(_ *gittest.Git, dir, victim string) error {
			return errors.Join(os.MkdirAll(filepath.Join(dir, ".git", "info"), 0o700), os.Symlink(victim, filepath.Join(dir, ".git", "info", "attributes")))
		},
		"info/sparse-checkout": func(g *gittest.Git, dir, victim string) error {
			g.Run(dir, "config", "core.sparseCheckout", "true")
			g.Run(dir, "config", "core.sparseCheckoutCone", "true")
			return errors.Join(os.MkdirAll(filepath.Join(dir, ".git", "info"), 0o700), os.Symlink(victim, filepath.Join(dir, ".git", "info", "sparse-checkout")))
		},
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			g := gittest.New(t)
			dir := g.Init()
			gittest.Write(t, filepath.Join(dir, "a.txt"), "a\n")
			g.Run(dir, "add", ".")
			g.Commit(dir, "first")
			gittest.Write(t, filepath.Join(dir, "a.txt"), "a\nb\n")
			victim := filepath.Join(t.TempDir(), "netrc")
			gittest.Write(t, victim, "machine x login y -"+secret+"!\n")
			if err := plant(g, dir, victim); err != nil {
				t.Skip(err)
			}
			// A damaged object makes git fail, and its messages are shown.
			object := strings.TrimSpace(g.Run(dir, "rev-parse", "HEAD:a.txt"))
			path := filepath.Join(dir, ".git", "objects", object[:2], object[2:])
			if err := errors.Join(os.Remove(path), os.WriteFile(path, []byte("x"), 0o600)); err != nil {
				t.Fatal(err)
			}
			r, err := git.Discover(t.Context(), dir, git.Options{Env: g.Env})
			if err != nil {
				t.Fatal(err)
			}
			_, err = r.DiffStat(t.Context())
			if err == nil || strings.Contains(err.Error(), secret) {
				t.Errorf("got error %v", err)
			}
		})
	}
}

// show returns all that a repository says, and its errors.
func show(t *testing.T, g *gittest.Git, dir string) string {
	t.Helper()
	ctx := t.Context()
	r, err := git.Discover(ctx, dir, git.Options{Env: g.Env})
	if err != nil {
		return err.Error()
	}
	var b strings.Builder
	add := func(value any, err error) { fmt.Fprintf(&b, "%+v %v\n", value, err) }
	head, err := r.Head(ctx)
	add(head, err)
	worktrees, err := r.Worktrees(ctx)
	add(worktrees, err)
	for _, w := range worktrees {
		if w.Operation != nil {
			add(*w.Operation, nil)
		}
	}
	status, err := r.Status(ctx)
	add(status, err)
	commits, err := r.Log(ctx, 3)
	add(commits, err)
	branches, err := r.LocalBranches(ctx)
	add(branches, err)
	return b.String()
}

// Links that git-new-workdir and people make keep working.
func TestUsualLinks(t *testing.T) {
	t.Parallel()
	g := gittest.New(t)
	dir, elsewhere := g.Init(), t.TempDir()
	g.Commit(dir, "first")
	g.Run(dir, "pack-refs", "--all")
	for name, target := range map[string]string{"packed-refs": "packed-refs", "config": "my.config", "info/exclude": "ignore"} {
		path := filepath.Join(dir, ".git", filepath.FromSlash(name))
		if err := os.Rename(path, filepath.Join(elsewhere, target)); err != nil {
			gittest.Write(t, filepath.Join(elsewhere, target), "")
		}
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.Symlink(filepath.Join(elsewhere, target), path)); err != nil {
			t.Skip(err)
		}
	}
	r := discover(t, g, dir)
	if _, err := r.Status(t.Context()); err != nil {
		t.Error(err)
	}
	if head, err := r.Head(t.Context()); err != nil || head.Commit == "" {
		t.Errorf("%+v, %v", head, err)
	}
}

// A link in place of .git shows nothing of the file it leads to, even if that file reads like one
// of git's.
func TestLinkInPlaceOfGit(t *testing.T) {
	t.Parallel()
	g, dir := gittest.New(t), t.TempDir()
	victim := filepath.Join(t.TempDir(), "notes")
	gittest.Write(t, victim, "gitdir: hunter2-password\n")
	if err := os.Symlink(victim, filepath.Join(dir, ".git")); err != nil {
		t.Skip("no symbolic links here")
	}
	_, err := git.Discover(t.Context(), dir, git.Options{Env: g.Env})
	if broken, ok := errors.AsType[*git.BrokenError](err); !ok || strings.Contains(err.Error(), "hunter2") || !strings.Contains(broken.Problem, "symbolic link") {
		t.Errorf("error is %v", err)
	}
}

// A configuration with more programs than git's command line can override is refused, with the
// reason, until it is corrected.
func TestTooManyPrograms(t *testing.T) {
	t.Parallel()
	g := gittest.New(t)
	dir := g.Init()
	g.Commit(dir, "first")
	config := filepath.Join(dir, ".git", "config")
	before, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&b, "[filter \"f%d\"]\n\tclean = false\n", i)
	}
	gittest.Write(t, config, string(before)+b.String())
	r, err := git.Discover(t.Context(), dir, git.Options{Env: g.Env})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := r.Status(t.Context()); err == nil || !strings.Contains(err.Error(), "more than 400 settings") {
			t.Errorf("error is %v", err)
		}
	}
	gittest.Write(t, config, string(before))
	if _, err := r.Status(t.Context()); err != nil {
		t.Errorf("after the correction: %v", err)
	}
}
