package session_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/copse-dev/copse/internal/branch/twig"
	"github.com/copse-dev/copse/internal/failure"
	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/git/gittest"
	"github.com/copse-dev/copse/internal/session"
	"github.com/copse-dev/copse/internal/xec"
)

// stateOn returns a branch state in which a branch is stacked on another.
func stateOn(child, parent string) string {
	return `{"version":1,"updated_at":"2026-01-02T03:04:05Z","worktrees":[],"branches":{},"root_branches":[],"dependencies":[{"id":"1","child":"` + child + `","parent":"` + parent + `","created_at":"2026-01-02T03:04:05Z"}]}`
}

// repository makes a repository with the branches main, a and b, of which a is checked
// out.
func repository(t *testing.T) (g *gittest.Git, root string) {
	t.Helper()
	g = gittest.New(t)
	root = gittest.Dir(t)
	g.Run(root, "init", "-q", "-b", "main")
	g.Run(root, "commit", "-q", "--allow-empty", "-m", "first")
	g.Run(root, "branch", "b")
	g.Run(root, "checkout", "-q", "-b", "a")
	if err := os.Mkdir(filepath.Join(root, ".twig"), 0o755); err != nil {
		t.Fatal(err)
	}
	return g, root
}

func write(t *testing.T, root, state string) {
	t.Helper()
	path := twig.Path(root)
	if err := os.WriteFile(path+".new", []byte(state), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

func open(g *gittest.Git, dir string) *session.Session {
	return session.New(session.Options{Dir: dir, Git: git.Options{Env: g.Env}})
}

// answer is what a call reads of two places.
type answer struct{ branch, parent string }

func read(ctx context.Context, v *session.View, between func()) (answer, error) {
	head, err := v.Head(ctx)
	if err != nil {
		return answer{}, err
	}
	between()
	state, err := v.State(ctx)
	if err != nil {
		return answer{}, err
	}
	parent, _ := state.Parent(head.Branch)
	return answer{head.Branch, parent}, nil
}

// A call whose repository changes under it reads again: no answer mixes two states.
func TestReadIsConsistent(t *testing.T) {
	t.Parallel()
	g, root := repository(t)
	for name, tt := range map[string]struct {
		change func()
		want   answer
		calls  int
	}{
		"nothing":              {func() {}, answer{"a", "main"}, 1},
		"before the last part": {func() { write(t, root, stateOn("a", "b")) }, answer{"a", "b"}, 1},
		"checkout":             {func() { g.Run(root, "checkout", "-q", "b"); write(t, root, stateOn("b", "a")) }, answer{"b", "a"}, 2},
	} {
		g.Run(root, "checkout", "-q", "a")
		write(t, root, stateOn("a", "main"))
		calls := 0
		got, err := session.Read(t.Context(), open(g, root), func(ctx context.Context, v *session.View) (answer, error) {
			calls++
			return read(ctx, v, func() {
				if calls == 1 {
					tt.change()
				}
			})
		})
		if err != nil || got != tt.want || calls != tt.calls {
			t.Errorf("%s: got %+v, %v after %d calls", name, got, err, calls)
		}
	}
}

// Whatever part changes after it was read, and whatever is read last, an answer has parts of one
// moment.
func TestReadIsConsistentInEachOrder(t *testing.T) {
	t.Parallel()
	g, root := repository(t)
	ctx := t.Context()
	var got [3]string // the current branch, its parent in the state, and the number of branches
	parts := []struct {
		read   func(v *session.View) error
		change func(to string)
	}{
		{func(v *session.View) (err error) {
			got[0], err = v.Branch(ctx)
			return err
		}, func(to string) { g.Run(root, "checkout", "-q", to) }},
		{func(v *session.View) error {
			state, err := v.State(ctx)
			if err == nil {
				got[1], _ = state.Parent("b")
			}
			return err
		}, func(to string) { write(t, root, stateOn("b", to)) }},
		{func(v *session.View) error {
			names, err := v.Branches(ctx)
			got[2] = strings.Join(names, " ")
			return err
		}, func(to string) {
			g.Run(root, "branch", "-f", "c"+to)
			_, _ = g.Try(root, "branch", "-D", map[string]string{"a": "cmain", "main": "ca"}[to])
		}},
	}
	for _, order := range [][]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}, {0, 1}, {1, 0}, {2, 0}, {1, 2}} {
		for after := range order {
			for _, p := range parts {
				p.change("main")
			}
			calls := 0
			_, err := session.Read(ctx, open(g, root), func(_ context.Context, v *session.View) (any, error) {
				calls++
				for i, part := range order {
					if err := parts[part].read(v); err != nil {
						return nil, err
					}
					if i == after && calls == 1 {
						for _, p := range parts {
							p.change("a")
						}
					}
				}
				return nil, nil
			})
			if err != nil || calls != 2 {
				t.Errorf("%v, changed after %d: %d calls, %v", order, after, calls, err)
			}
			for _, part := range order {
				if now := [3]string{"a", "a", "a b ca main"}[part]; got[part] != now {
					t.Errorf("%v, changed after %d: got %q", order, after, got)
				}
			}
		}
	}
}

// A repository that never holds still gets an answer all the same.
func TestReadEnds(t *testing.T) {
	t.Parallel()
	g, root := repository(t)
	write(t, root, stateOn("a", "main"))
	branches := []string{"b", "a"}
	calls := 0
	_, err := session.Read(t.Context(), open(g, root), func(ctx context.Context, v *session.View) (answer, error) {
		return read(ctx, v, func() {
			g.Run(root, "checkout", "-q", branches[calls%2])
			calls++
		})
	})
	if err != nil || calls != 4 {
		t.Errorf("%d calls, %v", calls, err)
	}
}

// One view gives one answer, whatever changes.
func TestViewReadsOnce(t *testing.T) {
	t.Parallel()
	g, root := repository(t)
	write(t, root, stateOn("a", "main"))
	v := open(g, root).View()
	ctx := t.Context()
	if names, err := v.Branches(ctx); err != nil || len(names) != 3 {
		t.Fatalf("%v, %v", names, err)
	}
	before, err := v.State(ctx)
	if err != nil || v.Current(ctx) != "a" {
		t.Fatalf("on %q, %v", v.Current(ctx), err)
	}
	g.Run(root, "checkout", "-q", "-b", "c")
	write(t, root, stateOn("c", "a"))
	if after, err := v.State(ctx); err != nil || after != before || v.Current(ctx) != "a" {
		t.Errorf("the view has changed: on %q, %v", v.Current(ctx), err)
	}
	if has, err := v.HasBranch(ctx, "c"); err != nil || has {
		t.Errorf("a branch that was made later: %t, %v", has, err)
	}
}

// When a repository is gone, copse does not answer for another one further up.
func TestGone(t *testing.T) {
	t.Parallel()
	g, outer := repository(t)
	inner := filepath.Join(outer, "inner")
	g.Run(outer, "init", "-q", inner)
	s := open(g, inner)
	if repo, err := s.Repo(t.Context()); err != nil || repo.Root() != inner {
		t.Fatal(err)
	}
	if err := os.Rename(inner, inner+"-moved"); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(inner, 0o755); err != nil {
		t.Fatal(err)
	}
	_, err := s.View().Head(t.Context())
	if !errors.Is(err, git.ErrNotRepository) || failure.Of(err).Kind != failure.NoRepository {
		t.Errorf("got %v", err)
	}
	if err := os.RemoveAll(inner); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(inner+"-moved", inner); err != nil {
		t.Fatal(err)
	}
	if repo, err := s.Repo(t.Context()); err != nil || repo.Root() != inner {
		t.Errorf("it is back: %v", err)
	}
}

// A git that only the project has is named.
func TestSkippedGit(t *testing.T) {
	t.Parallel()
	err := session.Explain(fmt.Errorf("run git: %w", &xec.SkippedError{Path: "/w/tools/git"}))
	if got := err.Error(); !strings.Contains(got, `git is installed only in the project, at "/w/tools/git"`) {
		t.Errorf("got %q", got)
	}
}
