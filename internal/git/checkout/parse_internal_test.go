package checkout

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Before git 2.36 the list had lines and no NULs.
func TestParseWorktreesOfOldGit(t *testing.T) {
	t.Parallel()
	const out = "worktree /repo.git\nbare\n\n" +
		"worktree /with space\nHEAD 0123456789012345678901234567890123456789\nbranch refs/heads/a/b\nlocked some reason\n\n" +
		"worktree /x\nHEAD 0000000000000000000000000000000000000000\ndetached\nlocked\nprunable gitdir file points to non-existent location\n\n"
	want := []Worktree{
		{Name: "repo.git", Path: "/repo.git", Bare: true},
		{Name: "with space", Path: "/with space", Branch: "a/b", Head: "0123456789012345678901234567890123456789", Locked: true},
		{Name: "x", Path: "/x", Detached: true, Locked: true, Prunable: true},
	}
	for _, separator := range []string{"\n", "\x00"} {
		got := parse([]byte(strings.ReplaceAll(out, "\n", separator)), separator)
		for i := range got {
			got[i].Path = strings.ReplaceAll(got[i].Path, `\`, "/")
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("separator %q (-want +got):\n%s", separator, diff)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("worktree /x\x00HEAD 12\x00branch refs/heads/x\x00\x00")
	f.Add("worktree\x00worktree")
	f.Fuzz(func(t *testing.T, text string) {
		worktrees := 0
		for line := range strings.SplitSeq(text, "\x00") {
			if line == "worktree" || strings.HasPrefix(line, "worktree ") {
				worktrees++
			}
		}
		if list := parse([]byte(text), "\x00"); len(list) != worktrees {
			t.Errorf("%d worktrees in %q, which has %d", len(list), text, worktrees)
		}
	})
}
