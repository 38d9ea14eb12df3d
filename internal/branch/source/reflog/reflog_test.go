package reflog_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/copse-dev/copse/internal/branch/source"
	"github.com/copse-dev/copse/internal/branch/source/reflog"
)

// repo is a repository of which only the reflogs matter.
type repo struct {
	source.Repo
	dir      string
	branches []string
	remotes  []string
}

func (r repo) CommonDir() string                             { return r.dir }
func (r repo) Unrecorded() []string                          { return r.branches }
func (r repo) DefaultBranch(context.Context) (string, error) { return "main", nil }
func (r repo) Remotes(context.Context) ([]string, error)     { return r.remotes, nil }

func put(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func entry(from, to int, why string) string {
	return fmt.Sprintf("%040x %040x A <a@b> 1 +0000\t%s\n", from, to, why)
}

// Each file is read once, however many branches there are, and all reflogs together have a maximum
// size.
func TestManyBranchesWithLargeLogs(t *testing.T) {
	t.Parallel()
	const branches, entries = 900, 100_000
	dir := t.TempDir()
	r := repo{dir: dir, remotes: []string{"origin"}}
	var trunk, head, packed, renamed strings.Builder
	for i := range entries {
		trunk.WriteString(entry(i, i+1, "fetch"))
		head.WriteString(entry(i, i+1, "checkout: moving from x to y"))
		fmt.Fprintf(&packed, "%040x refs/tags/t%d\n", i+1, i)
		renamed.WriteString(entry(i, i+1, fmt.Sprintf("Branch: renamed refs/heads/o%d to refs/heads/large", i)))
		renamed.WriteString(entry(i, i+1, fmt.Sprintf("rebase (finish): refs/heads/large onto %040x", i)))
	}
	put(t, dir, "logs/refs/remotes/origin/main", trunk.String())
	put(t, dir, "logs/HEAD", head.String()+entry(5, 6, "checkout: moving from b1 to from-head"))
	put(t, dir, "packed-refs", packed.String())
	put(t, dir, "logs/refs/heads/large", renamed.String())
	for i := range branches {
		name := fmt.Sprintf("b%d", i)
		r.branches = append(r.branches, name)
		put(t, dir, "logs/refs/heads/"+name, entry(0, 1<<40+i, "branch: Created from t7")+entry(1, 1<<41+i, "commit: x"))
	}
	add := func(name, text string) {
		put(t, dir, "logs/refs/heads/"+name, text)
		r.branches = append(r.branches, name)
	}
	r.branches = append(r.branches, "large")
	add("from-head", entry(0, 6, "branch: Created from HEAD"))
	add("from-trunk", entry(0, 77, "branch: Created from HEAD"))
	add("from-old", entry(0, 1<<42, "branch: Created from o9"))
	add("from-remote", entry(0, 1<<43, "branch: Created from refs/remotes/origin/b3"))
	begun := time.Now()
	record, err := reflog.Reader{}.Read(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	if took := time.Since(begun); took > 10*time.Second { // minutes, if each branch reads them again
		t.Errorf("it took %s", took)
	}
	parents := map[string]string{}
	for _, e := range record.Edges {
		parents[e.Child] = e.Parent
	}
	for child, want := range map[string]string{
		"from-head": "b1", "from-trunk": "main", "from-old": "large", "from-remote": "b3", "b7": "",
	} {
		if parents[child] != want {
			t.Errorf("the parent of %s is %q, want %q", child, parents[child], want)
		}
	}
}

// Logs that are too large together are damaged, as one that is too large itself is.
func TestLargeLogs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put(t, dir, "logs/refs/heads/b0", strings.Repeat(entry(1, 1, "x"), 80_000))
	r := repo{dir: dir}
	for i := range 20 {
		name := fmt.Sprintf("b%d", i)
		if i > 0 {
			if err := os.Link(filepath.Join(dir, "logs/refs/heads/b0"), filepath.Join(dir, "logs/refs/heads", name)); err != nil {
				t.Skip(err)
			}
		}
		r.branches = append(r.branches, name)
	}
	record, err := reflog.Reader{}.Read(t.Context(), r)
	notes := strings.Join(record.Notes, "\n")
	if err != nil || strings.Contains(notes, "b0 ") || !strings.Contains(notes, "the log of b19 is damaged") {
		t.Errorf("got %q, %v", notes, err)
	}
}
