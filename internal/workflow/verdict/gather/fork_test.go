package gather_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/copse-dev/copse/internal/branch/source/records"
	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/git/gittest"
	"github.com/copse-dev/copse/internal/session"
	"github.com/copse-dev/copse/internal/workflow/stack"
	"github.com/copse-dev/copse/internal/workflow/verdict"
	"github.com/copse-dev/copse/internal/workflow/verdict/gather"
)

// fork is a repository with the branch b on a, on main, which copse itself tracks.
type fork struct {
	t   *testing.T
	g   *gittest.Git
	dir string
}

func newFork(t *testing.T) fork {
	t.Helper()
	f := fork{t, gittest.New(t), ""}
	f.dir = f.g.Init()
	f.commit("f", "1\n2\n3\n", "start")
	const id, at = `"id": "6ba7b810-9dad-11d1-80b4-00c04fd430c8", `, `"created_at": "2026-01-02T03:04:05Z"`
	gittest.Write(t, f.dir+"/.git/info/exclude", ".twig\n")
	gittest.Write(t, f.dir+"/.twig/state.json", `{"version": 1, "repo_path": "/r", "created_at": "2026-01-02T03:04:05Z", "updated_at": "2026-01-02T03:04:05Z", "branches": {}, "worktrees": [],
		"root_branches": [{`+id+`"branch": "main", "is_default": true, `+at+`}],
		"dependencies": [{`+id+`"parent": "main", "child": "a", `+at+`}, {`+id+`"parent": "a", "child": "b", `+at+`}]}`)
	f.g.Run(f.dir, "switch", "-q", "-c", "a")
	f.commit("f", "1\ntwo\n3\n", "a1")
	return f
}

func (f fork) commit(name, text, message string, more ...string) {
	gittest.Write(f.t, f.dir+"/"+name, text)
	f.g.Run(f.dir, "add", name)
	f.g.Run(f.dir, append([]string{"commit", "-q", "-m", message}, more...)...)
}

// b returns what copse reports about b, and the next step of the stack.
func (f fork) b() (verdict.Branch, string) {
	f.t.Helper()
	s := session.New(session.Options{Dir: f.dir, Git: git.Options{Env: f.g.Env}})
	v := gather.New(gather.Options{Branches: stack.New(s, records.New(records.Options{})), Now: time.Now})
	status, err := v.Stack(f.t.Context(), "b", gather.Cached)
	if err != nil || len(status.Branches) != 2 {
		f.t.Fatalf("%+v, %v", status, err)
	}
	return status.Branches[1], status.Next
}

// restack runs the next step, which must apply without a conflict, and returns what b has then.
func (f fork) restack(next string) []string {
	f.t.Helper()
	f.g.Run(f.dir, strings.Fields(next)[1:]...)
	return strings.Fields(f.g.Run(f.dir, "log", "--format=%s", "--reverse", "main..b"))
}

// After the parent's commit is amended, the next step replays the branch's own commits only.
func TestForkAmended(t *testing.T) {
	t.Parallel()
	f := newFork(t)
	f.g.Run(f.dir, "switch", "-q", "-c", "b")
	f.commit("b", "b\n", "b1")
	f.g.Run(f.dir, "switch", "-q", "a")
	f.commit("f", "1\nzwei\n3\n", "a1-again", "--amend")
	b, next := f.b()
	if *b.Ahead != 1 || *b.Behind != 1 || b.NeedsRestack == nil || !*b.NeedsRestack || !strings.HasPrefix(next, "git rebase --onto a ") {
		t.Errorf("%d ahead, %d behind; next %q", *b.Ahead, *b.Behind, next)
	}
	if got := f.restack(next); !slices.Equal(got, []string{"a1-again", "b1"}) {
		t.Error(got)
	}
	if b, _ := f.b(); *b.Ahead != 1 || *b.Behind != 0 || b.NeedsRestack != nil {
		t.Errorf("afterwards: %+v", b)
	}
}

// A commit that was made on the parent by mistake, and for which the branch was created, is the
// branch's own.
func TestForkKeepsMovedCommits(t *testing.T) {
	t.Parallel()
	f := newFork(t)
	f.commit("b", "b\n", "b1")
	f.g.Run(f.dir, "branch", "b")
	f.g.Run(f.dir, "reset", "-q", "--hard", "HEAD~1")
	f.commit("f", "1\nzwei\n3\n", "a1-again", "--amend")
	b, next := f.b()
	if *b.Ahead != 1 {
		t.Errorf("%d ahead", *b.Ahead)
	}
	if got := f.restack(next); !slices.Equal(got, []string{"a1-again", "b1"}) {
		t.Error(got)
	}
}

// A branch that its parent had been merged forward to, and back, keeps its commits.
func TestForkKeepsMergedCommits(t *testing.T) {
	t.Parallel()
	f := newFork(t)
	f.g.Run(f.dir, "switch", "-q", "-c", "b")
	f.commit("b", "b\n", "b1")
	f.g.Run(f.dir, "switch", "-q", "a")
	f.g.Run(f.dir, "merge", "-q", "b")
	f.g.Run(f.dir, "reset", "-q", "--hard", "HEAD~1")
	f.commit("a", "a\n", "a2")
	b, next := f.b()
	if *b.Ahead != 1 || next != "git rebase a b" {
		t.Errorf("%d ahead; next %q", *b.Ahead, next)
	}
	if got := f.restack(next); !slices.Equal(got, []string{"a1", "a2", "b1"}) {
		t.Error(got)
	}
}

// A parent whose commits were joined by a reset that keeps the files has replaced them.
func TestForkSquashed(t *testing.T) {
	t.Parallel()
	for name, more := range map[string]func(fork){
		"at once":     func(fork) {},
		"with more":   func(f fork) { f.commit("a", "a\n", "a3") },
		"and amended": func(f fork) { f.commit("f", "1\nzwei\n3\n", "joined-again", "--amend") },
		"in the parent": func(f fork) {
			f.g.Run(f.dir, "switch", "-q", "main")
			f.commit("m", "m\n", "m")
			f.g.Run(f.dir, "rebase", "-q", "main", "a")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFork(t)
			f.commit("f", "1\nzwo\n3\n", "a2")
			f.g.Run(f.dir, "switch", "-q", "-c", "b")
			f.commit("b", "b\n", "b1")
			f.g.Run(f.dir, "switch", "-q", "a")
			f.g.Run(f.dir, "reset", "-q", "--soft", "main")
			f.g.Run(f.dir, "commit", "-q", "-m", "joined")
			more(f)
			b, next := f.b()
			if *b.Ahead != 1 || b.NeedsRestack == nil || !strings.HasPrefix(next, "git rebase --onto a ") {
				t.Fatalf("%d ahead, next %q", *b.Ahead, next)
			}
			if got := f.restack(next); got[len(got)-1] != "b1" || slices.Contains(got, "a1") || slices.Contains(got, "a2") {
				t.Error(got)
			}
		})
	}
}

// A commit that was moved to its own branch stays one of that branch, even if the parent gets another
// commit to the same file.
func TestForkKeepsMovedChanges(t *testing.T) {
	t.Parallel()
	f := newFork(t)
	f.commit("f", "1\ntwo\nthree\n", "b1")
	f.g.Run(f.dir, "branch", "b")
	f.g.Run(f.dir, "reset", "-q", "--hard", "HEAD~1")
	f.commit("f", "one\ntwo\n3\n", "a2")
	if b, next := f.b(); *b.Ahead != 1 || next != "git rebase a b" {
		t.Errorf("%d ahead; next %q", *b.Ahead, next)
	}
}
