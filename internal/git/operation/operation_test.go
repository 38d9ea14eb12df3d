package operation_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/copse-dev/copse/internal/git/gittest"
	"github.com/copse-dev/copse/internal/git/operation"
)

// repository has main and feat, which both change the file f, and feat checked out with
// two commits of its own.
func repository(t *testing.T) (*gittest.Git, string) {
	t.Helper()
	g := gittest.New(t)
	dir := g.Init()
	commit(g, dir, "0", "start")
	g.Run(dir, "checkout", "-q", "-b", "feat")
	commit(g, dir, "feat", "feat 1")
	commit(g, dir, "feat again", "feat 2")
	g.Run(dir, "checkout", "-q", "main")
	commit(g, dir, "main", "main 1")
	g.Run(dir, "checkout", "-q", "feat")
	return g, dir
}

func commit(g *gittest.Git, dir, content, message string) {
	g.TB.Helper()
	if err := os.WriteFile(filepath.Join(dir, "f"), []byte(content+"\n"), 0o600); err != nil {
		g.TB.Fatal(err)
	}
	g.Run(dir, "add", "f")
	g.Run(dir, "commit", "-q", "-m", message)
}

// reader returns a reader that trusts the times of directories that changed a moment ago.
func reader(dir string) *operation.Reader {
	r := operation.NewReader(dir)
	r.SetNow(func() time.Time { return time.Now().Add(time.Hour) })
	return r
}

// An operation is seen when its files appear and disappear, also those in a directory that existed.
func TestReaderIsFresh(t *testing.T) {
	t.Parallel()
	tick := time.Unix(1_000_000_000, 0)
	for _, name := range []string{
		"rebase-merge/onto", "rebase-apply/applying", "MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "BISECT_LOG", "sequencer/todo",
	} {
		dir := t.TempDir()
		r := reader(dir)
		path := filepath.Join(dir, filepath.FromSlash(name))
		for range 2 {
			for _, change := range []func() error{
				func() error { return os.MkdirAll(filepath.Dir(path), 0o755) },
				func() error { return os.WriteFile(path, []byte("pick 0123456 x\n"), 0o600) },
				func() error { return os.Remove(path) },
				func() error { return os.RemoveAll(filepath.Join(dir, strings.Split(name, "/")[0])) },
			} {
				if err := change(); err != nil {
					t.Fatal(err)
				}
				for range 2 {
					if diff := cmp.Diff(operation.Read(dir), r.Read()); diff != "" {
						t.Errorf("%s: %s", name, diff)
					}
				}
				// The next change is visible, even in the same tick of the file system's clock.
				tick = tick.Add(time.Minute)
				if err := os.Chtimes(dir, tick, tick); err != nil {
					t.Fatal(err)
				}
				r.Read()
			}
		}
	}
}

func TestRead(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		begin func(g *gittest.Git, dir string)
		want  operation.Operation
		text  string
	}{
		"rebase": {
			func(g *gittest.Git, dir string) { _, _ = g.Try(dir, "rebase", "main") },
			operation.Operation{Kind: operation.Rebase, Branch: "feat", Onto: "main", Step: 1, Steps: 2},
			"rebasing feat onto main, step 1 of 2",
		},
		"rebase with patches": {
			func(g *gittest.Git, dir string) { _, _ = g.Try(dir, "rebase", "--apply", "main") },
			operation.Operation{Kind: operation.Rebase, Branch: "feat", Onto: "main", Step: 1, Steps: 2},
			"rebasing feat onto main, step 1 of 2",
		},
		"rebase of a commit": {
			func(g *gittest.Git, dir string) {
				g.Run(dir, "checkout", "-q", "--detach")
				_, _ = g.Try(dir, "rebase", "main")
			},
			operation.Operation{Kind: operation.Rebase, Onto: "main", Step: 1, Steps: 2},
			"rebasing onto main, step 1 of 2",
		},
		"merge": {
			func(g *gittest.Git, dir string) { _, _ = g.Try(dir, "merge", "main") },
			operation.Operation{Kind: operation.Merge, Source: "main"},
			"merging main",
		},
		"merge of a name with a quotation mark": {
			func(g *gittest.Git, dir string) {
				g.Run(dir, "branch", "it's", "main")
				_, _ = g.Try(dir, "merge", "it's")
			},
			operation.Operation{Kind: operation.Merge, Source: "it's"},
			"merging it's",
		},
		"merge with a message": {
			func(g *gittest.Git, dir string) { _, _ = g.Try(dir, "merge", "-m", "Merge 'all' of it", "main") },
			operation.Operation{Kind: operation.Merge, Source: "HASH"},
			"merging HASH",
		},
		"merge of several": {
			func(g *gittest.Git, dir string) {
				g.Run(dir, "checkout", "-q", "-b", "side", "main~1")
				g.Run(dir, "commit", "-q", "--allow-empty", "-m", "side")
				g.Run(dir, "checkout", "-q", "-b", "here", "main~1")
				g.Run(dir, "commit", "-q", "--allow-empty", "-m", "here")
				_, _ = g.Try(dir, "merge", "--no-commit", "side", "main")
			},
			operation.Operation{Kind: operation.Merge, Source: "side, main"},
			"merging side, main",
		},
		"cherry-pick": {
			func(g *gittest.Git, dir string) {
				g.Run(dir, "checkout", "-q", "main")
				_, _ = g.Try(dir, "cherry-pick", "feat~2..feat")
			},
			operation.Operation{Kind: operation.CherryPick, Source: "HASH", Remaining: 1},
			"cherry-picking HASH, 1 more to go",
		},
		"cherry-pick after the first conflict": {
			func(g *gittest.Git, dir string) {
				g.Run(dir, "checkout", "-q", "main")
				_, _ = g.Try(dir, "cherry-pick", "feat~2..feat")
				commit(g, dir, "solved", "picked")
			},
			operation.Operation{Kind: operation.CherryPick, Remaining: 1},
			"cherry-picking commits, 1 more to go",
		},
		"revert": {
			func(g *gittest.Git, dir string) { _, _ = g.Try(dir, "revert", "HEAD~1") },
			operation.Operation{Kind: operation.Revert, Source: "HASH"},
			"reverting HASH",
		},
		"bisect": {
			func(g *gittest.Git, dir string) {
				g.Run(dir, "bisect", "start")
				g.Run(dir, "bisect", "bad")
				g.Run(dir, "bisect", "good", "feat~2")
			},
			operation.Operation{Kind: operation.Bisect, Branch: "feat"},
			"bisecting feat",
		},
		"am": {
			func(g *gittest.Git, dir string) {
				g.Run(dir, "format-patch", "-q", "-o", "patches", "main..feat")
				g.Run(dir, "checkout", "-q", "main")
				_, _ = g.Try(dir, "am", "patches/0001-feat-1.patch", "patches/0002-feat-2.patch")
			},
			operation.Operation{Kind: operation.Am, Step: 1, Steps: 2},
			"applying patches, step 1 of 2",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g, dir := repository(t)
			repeated := reader(filepath.Join(dir, ".git"))
			if got := repeated.Read(); got != nil || repeated.Read() != nil {
				t.Fatalf("before: got %v", got)
			}
			tt.begin(g, dir)
			got := operation.Read(filepath.Join(dir, ".git"))
			if diff := cmp.Diff(got, repeated.Read()); diff != "" {
				t.Error("a reader that has read before:", diff)
			}
			if got == nil {
				t.Fatal("nothing is in progress")
			}
			text := got.String()
			if tt.want.Source == "HASH" {
				tt.want.Source = got.Source
				if len(got.Source) != 8 {
					t.Errorf("source %q", got.Source)
				}
				tt.text = tt.want.String()
			}
			if diff := cmp.Diff(tt.want, *got); diff != "" {
				t.Error(diff)
			}
			if text != tt.text {
				t.Errorf("got %q, want %q", text, tt.text)
			}
		})
	}
}

// Names come from files that a stranger may have put there.
func TestHostileFiles(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"rebase-merge/head-name": "refs/heads/a\x1b[31mb",
		"rebase-merge/onto":      "../../etc/passwd",
		"rebase-merge/msgnum":    "-3",
		"BISECT_START":           "a..b",
		"MERGE_MSG":              "Merge branch 'a b' into c",
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		for _, begun := range []string{"BISECT_LOG", "MERGE_HEAD"} {
			if err := os.WriteFile(filepath.Join(dir, begun), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		got := operation.Read(dir)
		if got == nil || got.Branch+got.Onto+got.Source != "" || got.Step != 0 {
			t.Errorf("%s: got %+v", name, got)
		}
	}
}

// A link in place of one of the files leads to a file that is not git's.
func TestLinks(t *testing.T) {
	t.Parallel()
	victim := filepath.Join(t.TempDir(), "victim")
	if err := os.WriteFile(victim, []byte("refs/heads/hunter2-password\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"rebase-merge/head-name", "rebase-apply/head-name", "BISECT_START"} {
		dir := t.TempDir()
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "BISECT_LOG"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(victim, path); err != nil {
			t.Skip("symbolic links cannot be made here:", err)
		}
		if got := operation.Read(dir); got == nil || got.Branch+got.Onto+got.Source != "" {
			t.Errorf("%s: got %+v", name, got)
		}
	}
}
