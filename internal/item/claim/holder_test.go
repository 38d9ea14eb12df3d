package claim_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/copse-dev/copse/internal/item/claim"
	"github.com/copse-dev/copse/internal/xec/family"
)

// The claim of a person ends with the worktree, and that of a client with its process. Nobody judges
// the holders of other machines, or a worktree whose disk is absent.
func TestHolderCheck(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	here, ended := family.Identify(os.Getpid()), family.Identify(os.Getpid())
	ended.Start = "another one, whose number was given to this process"
	now := time.Now()
	for name, c := range map[string]struct {
		holder claim.Agent
		gone   bool
	}{
		"person":                {claim.Agent{Name: "ada", Host: "here", Worktree: dir}, false},
		"person, no worktree":   {claim.Agent{Name: "ada", Host: "here"}, false},
		"removed worktree":      {claim.Agent{Name: "ada", Host: "here", Worktree: filepath.Join(dir, "gone")}, true},
		"of another machine":    {claim.Agent{Name: "ada", Host: "there", Worktree: filepath.Join(dir, "gone")}, false},
		"absent disk":           {claim.Agent{Name: "ada", Host: "here", Worktree: filepath.Join(dir, "disk", "gone")}, false},
		"client":                {claim.Agent{Name: "codex", Host: "here", Worktree: dir, Process: here}, false},
		"client, moved":         {claim.Agent{Name: "codex", Host: "here", Worktree: filepath.Join(dir, "gone"), Process: here}, false},
		"ended client":          {claim.Agent{Name: "codex", Host: "here", Worktree: dir, Process: ended}, true},
		"ended client far away": {claim.Agent{Name: "codex", Host: "there", Worktree: dir, Process: ended}, false},
	} {
		check := claim.HolderCheck{By: claim.Agent{Name: "bob", Host: "here"}, Now: now}
		for range 2 {
			if got := check.Mark(claim.Claim{Holder: c.holder}); got.Gone.IsZero() == c.gone || c.gone && !got.Gone.Equal(now) {
				t.Errorf("%s: gone at %v, want %v", name, got.Gone, c.gone)
			}
		}
		for _, listed := range [][]string{nil, {c.holder.Worktree}} {
			check := claim.HolderCheck{By: claim.Agent{Name: "bob", Host: "here"}, Now: now, Worktrees: func() []string { return listed }}
			want := c.gone && (c.holder.Process.PID != 0 || listed != nil)
			if got := check.Mark(claim.Claim{Holder: c.holder}); got.Gone.IsZero() == want {
				t.Errorf("%s, of the worktrees %q: gone at %v, want %v", name, listed, got.Gone, want)
			}
		}
		earlier := claim.Claim{Holder: c.holder, Gone: now.Add(-time.Minute)}
		if check.Mark(earlier) != earlier {
			t.Errorf("%s: a note was replaced", name)
		}
	}
}
