package worktrees

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/workflow/stack"
	"github.com/copse-dev/copse/internal/workflow/worktrees"
)

// screen is a terminal of some width.
type screen struct {
	bytes.Buffer
	width int
}

func (s *screen) Width() int { return s.width }

// A terminal shows short paths and, if it is narrow, sentences; a pipe shows full paths.
func TestShow(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)
	of := func(path, branch string, keep ...string) worktrees.Worktree {
		return worktrees.Worktree{
			Worktree: stack.Worktree{Path: path, Branch: branch}, LastCommit: at, Keep: keep, SafeToRemove: keep == nil,
		}
	}
	const parent = "/home/ada/a-long-name/of-the-directory"
	here := of(parent+"/shop", "main", "it is the main worktree")
	here.Current = true
	all := []worktrees.Worktree{
		here,
		of(parent+"/shop/.worktrees/log-in", "log-in", "never pushed"),
		of(parent+"/pay", "pay"),
		of("/elsewhere/help", "help"),
	}
	for width, want := range map[int]string{
		120: `WORKTREE                BRANCH  CHANGES  UPSTREAM  COMMITTED   PR  ITEM  WHO  REMOVE
shop *                  main    clean    -         3 days ago  -   -     -    keep: it is the main worktree
shop/.worktrees/log-in  log-in  clean    -         3 days ago  -   -     -    keep: never pushed
pay                     pay     clean    -         3 days ago  -   -     -    safe to remove
/elsewhere/help         help    clean    -         3 days ago  -   -     -    safe to remove
`,
		70: `WORKTREE                BRANCH  CHANGES  COMMITTED
shop *                  main    clean    3 days ago
    keep: it is the main worktree
shop/.worktrees/log-in  log-in  clean    3 days ago
    keep: never pushed
pay                     pay     clean    3 days ago
    safe to remove
/elsewhere/help         help    clean    3 days ago
    safe to remove
`,
	} {
		s := &screen{width: width}
		env := app.Env{Stdout: s, Stderr: io.Discard, Environ: []string{"NO_COLOR=1"}, Now: func() time.Time { return at.Add(72 * time.Hour) }}
		if err := show(env, all, false); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, s.String()); diff != "" {
			t.Errorf("%d columns: %s", width, diff)
		}
	}
	gone := worktrees.Worktree{Worktree: stack.Worktree{Missing: true, Locked: true}}
	if got := removal(gone); !strings.Contains(got, "git worktree unlock") {
		t.Errorf("a locked worktree that is missing: %s", got) // "git worktree prune" leaves it
	}
	var pipe strings.Builder
	if err := show(app.Env{Stdout: &pipe, Stderr: io.Discard, Now: func() time.Time { return at }}, all, false); err != nil {
		t.Fatal(err)
	}
	for _, w := range all {
		if !strings.Contains("\n"+pipe.String(), "\n"+w.Path+"\t"+w.Branch+"\t") {
			t.Errorf("no full path %s in:\n%s", w.Path, pipe.String())
		}
	}
}

// A worktree that copse does not examine does not look clean, and a note counts such worktrees.
func TestUnexamined(t *testing.T) {
	t.Parallel()
	var out, notes bytes.Buffer
	env := app.Env{Stdout: &out, Stderr: &notes, Now: time.Now}
	all := []worktrees.Worktree{
		{Worktree: stack.Worktree{Path: "/shop", Branch: "main"}},
		{Worktree: stack.Worktree{Path: "/old", Branch: "old"}, Unexamined: true, Keep: []string{"not examined"}},
	}
	noteUnexamined(env, all)
	if err := show(env, all, false); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "/old\told\tnot examined\t") || strings.Count(out.String(), "clean") != 1 {
		t.Errorf("the list is\n%s", &out)
	}
	if !strings.Contains(notes.String(), "copse did not examine 1 less recently used worktree;") {
		t.Errorf("the note is %q", &notes)
	}
}
