//go:build unix

package gitmerge_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/git/gittest"
	"github.com/copse-dev/copse/internal/item/gitmerge"
	"github.com/copse-dev/copse/internal/item/merge"
	"github.com/copse-dev/copse/internal/xec"
)

// A clone can have thousands of remote branches. The rank of an item starts git twice, however many
// there are.
func TestRankStartsFewProcesses(t *testing.T) {
	t.Parallel()
	g := gittest.New(t)
	dir := g.Init()
	item := func(branch, title string) {
		g.Run(dir, "checkout", "-q", "-B", branch)
		gittest.Write(t, filepath.Join(dir, ".tic", "items", "1.md"), "---\nid: \"1\"\ntitle: "+title+"\ncreated: 2026-01-01T00:00:00.000Z\n---\n")
		g.Run(dir, "add", "-A")
		g.Run(dir, "commit", "-qm", branch)
	}
	item("main", "start")
	for i := range 20 {
		item("feature", fmt.Sprint("title ", i))
		g.Run(dir, "update-ref", fmt.Sprint("refs/remotes/origin/", i), "HEAD")
	}
	g.Run(dir, "checkout", "-q", "main")
	item("main", "main")
	if _, err := g.Try(dir, "merge", "-q", "feature"); err == nil {
		t.Fatal("no conflict")
	}
	env, starts := counted(t, g)
	repo, err := gitmerge.OpenRepo(t.Context(), filepath.Join(dir, ".tic"), git.Options{Env: env})
	if err != nil {
		t.Fatal(err)
	}
	m, err := repo.Find(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	o, err := m.Options(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	before := starts()
	if got := o.Rank(merge.Birth{ID: 1, Created: "2026-01-03T00:00:00.000Z"}); got != 2 {
		t.Errorf("rank %d", got)
	}
	if n := starts() - before; n > 2 {
		t.Errorf("git was started %d times", n)
	}
	if got := o.Rank(merge.Birth{ID: 1, Created: "2026-01-01T00:00:00.000Z"}); got != 1 {
		t.Errorf("rank %d of an item of a remote branch", got)
	}
}

// A check of the commits that changed items starts git three times: for the names of commits, for their
// changes, and for the commits that they can be copies of.
func TestPastStartsFewProcesses(t *testing.T) {
	t.Parallel()
	g := gittest.New(t)
	dir := g.Init()
	gittest.Write(t, filepath.Join(dir, ".tic", "items", "1.md"), "---\nid: \"1\"\ntitle: one\ncreated: 2026-01-01T00:00:00.000Z\n---\n")
	g.Run(dir, "add", "-A")
	g.Run(dir, "commit", "-qm", "start")
	env, starts := counted(t, g)
	repo, err := gitmerge.OpenRepo(t.Context(), filepath.Join(dir, ".tic"), git.Options{Env: env})
	if err != nil {
		t.Fatal(err)
	}
	past, err := repo.Past(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	if err := past.Vanished(t.Context(), func(*gitmerge.Merge) error { return nil }); err != nil {
		t.Error(err)
	}
	if _, err := past.Buried(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := past.Copied(t.Context()); err != nil {
		t.Error(err)
	}
	if n := starts(); n != 3 {
		t.Errorf("git was started %d times", n)
	}
}

// counted returns an environment in which the starts of git are counted, and the count.
func counted(t *testing.T, g *gittest.Git) (env xec.Env, starts func() int) {
	t.Helper()
	real, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	log := filepath.Join(bin, "log")
	script := "#!/bin/sh\necho start >>'" + log + "'\nexec '" + real + "' \"$@\"\n"
	// A process that another test starts meanwhile would keep the file open, and the system starts no open file.
	syscall.ForkLock.RLock()
	err = os.WriteFile(filepath.Join(bin, "git"), []byte(script), 0o700)
	syscall.ForkLock.RUnlock()
	if err != nil {
		t.Fatal(err)
	}
	return g.Env.With("PATH=" + bin + string(os.PathListSeparator) + os.Getenv("PATH")), func() int {
		data, err := os.ReadFile(log)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Count(string(data), "start")
	}
}
