package git_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/git/gittest"
)

// In every scenario, what is found and read is what git says.
func TestAgreesWithGit(t *testing.T) {
	t.Parallel()
	for name, scenario := range scenarios {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := gittest.New(t)
			for _, p := range scenario(t, g) {
				agree(t, g, p)
			}
		})
	}
}

func agree(t *testing.T, g *gittest.Git, p place) {
	t.Helper()
	ctx := t.Context()
	r := discover(t, g, p.start)
	if r.Root() != p.root || r.MainRoot() != p.mainRoot || r.Bare() != (p.root == "") {
		t.Fatalf("from %s: root %q, main root %q, bare %v; want %q, %q",
			p.start, r.Root(), r.MainRoot(), r.Bare(), p.root, p.mainRoot)
	}
	if p.root != "" {
		// Git knows no root inside its own directory; ask there where it does.
		if top, err := g.Try(p.start, "rev-parse", "--show-toplevel"); err == nil && filepath.FromSlash(top) != p.root {
			t.Errorf("from %s: git's root is %q, want %q", p.start, top, p.root)
		}
	}
	if want := filepath.FromSlash(g.Run(p.start, "rev-parse", "--absolute-git-dir")); r.GitDir() != want {
		t.Errorf("from %s: GitDir is %q, want %q", p.start, r.GitDir(), want)
	}
	common := filepath.FromSlash(g.Run(p.start, "rev-parse", "--git-common-dir"))
	if !filepath.IsAbs(common) {
		real, err := filepath.EvalSymlinks(p.start)
		if err != nil {
			t.Fatal(err)
		}
		common = join(real, common)
	}
	if r.CommonDir() != common {
		t.Errorf("from %s: CommonDir is %q, want %q", p.start, r.CommonDir(), common)
	}

	head, err := r.Head(ctx)
	if err != nil {
		t.Fatalf("from %s: %v", p.start, err)
	}
	if diff := cmp.Diff(gitHead(g, p.start), head); diff != "" {
		t.Errorf("from %s: HEAD (-git +got):\n%s", p.start, diff)
	}

	want := gitBranches(g, p.start)
	branches, err := r.LocalBranches(ctx)
	if err != nil {
		t.Fatalf("from %s: %v", p.start, err)
	}
	if diff := cmp.Diff(want, branches, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("from %s: branches (-git +got):\n%s", p.start, diff)
	}
	for _, branch := range append(want, "none", "a b", "") {
		has, err := r.HasBranch(ctx, branch)
		if err != nil || has != slices.Contains(want, branch) {
			t.Errorf("from %s: HasBranch(%q) = %v, %v", p.start, branch, has, err)
		}
	}

	gitURL, gitErr := g.Try(p.start, "remote", "get-url", "origin")
	url, err := r.RemoteURL(ctx, "origin")
	if (err != nil) != (gitErr != nil) || err == nil && url != gitURL {
		t.Errorf("from %s: URL is %q (error %v), git's is %q (error %v)", p.start, url, err, gitURL, gitErr)
	}

	agreeOnWorktrees(t, g, p, r, head)
}

// agreeOnWorktrees checks that the list has the worktree it was asked from, and
// the main one first.
func agreeOnWorktrees(t *testing.T, g *gittest.Git, p place, r *git.Repo, head git.Head) {
	t.Helper()
	list, err := r.Worktrees(t.Context())
	if err != nil {
		t.Fatalf("from %s: %v", p.start, err)
	}
	n := strings.Count("\n"+g.Run(p.start, "worktree", "list", "--porcelain"), "\nworktree ")
	if len(list) != n {
		t.Errorf("from %s: %d worktrees, want %d", p.start, len(list), n)
	}
	if list[0].Bare != (p.mainRoot == "") || !list[0].Bare && list[0].Path != p.mainRoot {
		t.Errorf("from %s: the first worktree is %+v, want the main one", p.start, list[0])
	}
	if r.Bare() {
		return
	}
	i := slices.IndexFunc(list, func(w git.Worktree) bool { return w.Path == p.root })
	if i < 0 {
		t.Errorf("from %s: %q is not among the worktrees %+v", p.start, p.root, list)
		return
	}
	want := git.Worktree{
		Name: filepath.Base(p.root), Path: p.root, Branch: head.Branch, Head: head.Commit, Detached: head.Detached,
	}
	if diff := cmp.Diff(want, list[i], cmpopts.IgnoreFields(git.Worktree{}, "Used")); diff != "" {
		t.Errorf("from %s: worktree (-want +got):\n%s", p.start, diff)
	}
}

func gitHead(g *gittest.Git, dir string) git.Head {
	var head git.Head
	ref, err := g.Try(dir, "symbolic-ref", "--quiet", "HEAD")
	head.Branch, head.Detached = strings.TrimPrefix(ref, "refs/heads/"), err != nil
	commit, err := g.Try(dir, "rev-parse", "--quiet", "--verify", "HEAD")
	if head.Commit, head.Unborn = commit, err != nil; err != nil {
		head.Commit = ""
	}
	return head
}

func gitBranches(g *gittest.Git, dir string) []string {
	out := g.Run(dir, "for-each-ref", "--format=%(refname:lstrip=2)", "refs/heads/")
	names := strings.Split(out, "\n")
	if out == "" {
		names = nil
	}
	slices.Sort(names)
	return names
}
