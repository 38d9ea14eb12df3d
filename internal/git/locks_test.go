package git_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/git/gittest"
)

// Git waits for a lock as long as the user allows, not as long as the repository asks for. A command that writes
// continues when copse is killed, and would wait forever.
func TestLocksAreNotAwaited(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		format, lock string
		config       [2]string
		command      []string
	}{
		"a ref":       {"files", "refs/heads/x.lock", [2]string{"core.filesRefLockTimeout", "-1"}, []string{"update-ref", "refs/heads/x", "HEAD"}},
		"packed refs": {"files", "packed-refs.lock", [2]string{"core.packedRefsTimeout", "-1"}, []string{"update-ref", "-d", "refs/heads/packed"}},
		"reftable":    {"reftable", "reftable/tables.list.lock", [2]string{"reftable.lockTimeout", "-1"}, []string{"update-ref", "refs/heads/x", "HEAD"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := gittest.New(t)
			var args []string
			if c.format != "files" {
				args = []string{"--ref-format=" + c.format}
			}
			dir := g.Init(args...)
			g.Commit(dir, "begin")
			g.Run(dir, "branch", "packed")
			g.Run(dir, "pack-refs", "--all")
			g.Run(dir, "config", c.config[0], c.config[1])
			gittest.Write(t, filepath.Join(dir, ".git", filepath.FromSlash(c.lock)), "")
			repo, err := git.Discover(t.Context(), dir, git.Options{Env: g.Env})
			if err != nil {
				t.Fatal(err)
			}
			ended := make(chan error, 1)
			go func() {
				_, err := repo.Program().Brief().Run(t.Context(), c.command...)
				ended <- err
			}()
			select {
			case err := <-ended:
				if err == nil {
					t.Error("the lock has no effect")
				}
			case <-time.After(20 * time.Second):
				t.Error("git waits for the lock")
			}
		})
	}
}
