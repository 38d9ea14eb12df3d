package servers_test

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/git/gittest"
	"github.com/copse-dev/copse/internal/supervisor"
	"github.com/copse-dev/copse/internal/wiring/servers"
)

// A repository can list any number of worktrees, which costs no memory. copse serves a limited number:
// that of the directory, the main one, those that it serves already, and the most recently used.
func TestManyWorktrees(t *testing.T) {
	t.Parallel()
	g := gittest.New(t)
	dir := g.Init()
	g.Run(dir, "commit", "-q", "--allow-empty", "-m", "start")
	trees := filepath.Join(filepath.Dir(dir), "trees")
	at := func(i int) string { return filepath.Join(trees, strconv.Itoa(i)) }
	const all = 120
	now := time.Now()
	for i := range all {
		gitDir := filepath.Join(dir, ".git", "worktrees", strconv.Itoa(i))
		gittest.Write(t, filepath.Join(gitDir, "HEAD"), "ref: refs/heads/main\n")
		gittest.Write(t, filepath.Join(gitDir, "commondir"), "../..\n")
		gittest.Write(t, filepath.Join(gitDir, "gitdir"), filepath.Join(at(i), ".git")+"\n")
		gittest.Write(t, filepath.Join(at(i), ".git"), "gitdir: "+gitDir+"\n")
		used := now.Add(time.Duration(i-all) * time.Hour)
		if err := os.Chtimes(filepath.Join(gitDir, "HEAD"), used, used); err != nil {
			t.Fatal(err)
		}
	}
	repository := servers.Repository{Env: app.Env{Environ: g.Env}}
	list, more, err := repository.Worktrees(t.Context(), at(7), []string{at(3), at(5)})
	if err != nil {
		t.Fatal(err)
	}
	const most = 50
	if len(list) != most || more != all+1-most {
		t.Errorf("%d worktrees are served, and %d more are there", len(list), more)
	}
	for _, path := range []string{dir, at(7), at(3), at(5), at(all - 1), at(all - most + 4)} {
		if !slices.ContainsFunc(list, func(w supervisor.Worktree) bool { return w.Path == path }) {
			t.Errorf("%s is not served", path)
		}
	}
}
