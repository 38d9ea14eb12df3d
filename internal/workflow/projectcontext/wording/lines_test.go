package wording

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/copse-dev/copse/internal/foreign"
	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/workflow/projectcontext"
)

// A complete list does not say that there is more.
func TestListsSayWhatTheyOmit(t *testing.T) {
	t.Parallel()
	const fiveNames = 5
	for what, tt := range map[string]struct {
		limit int
		list  func(n int) string
	}{
		"worktrees": {maxWorktrees, func(n int) string {
			var list []git.Worktree
			for i := range n {
				list = append(list, git.Worktree{Path: fmt.Sprintf("/w%d", i), Branch: "b"})
			}
			return worktrees(list, maxWorktrees).Plain()
		}},
		"names": {fiveNames, func(n int) string {
			room := fiveNames * len(foreign.Spell("abc")+" ")
			return enumerate(strings.Fields(strings.Repeat("abc ", n)), foreign.Line{}.Own(" "), room).Plain()
		}},
	} {
		if text := tt.list(tt.limit); strings.Contains(text, "more") {
			t.Errorf("%d %s: %s", tt.limit, what, text)
		}
		if text := tt.list(tt.limit + 1); !strings.Contains(text, " 1 more") {
			t.Errorf("%d %s: %s", tt.limit+1, what, text)
		}
	}
	for omitted, want := range map[int]string{0: "", 1: "… and 1 more container"} {
		var got strings.Builder
		for _, l := range Lines(projectcontext.Containers{Omitted: omitted}, time.Now()) {
			got.WriteString(l.Plain())
		}
		if got.String() != want {
			t.Errorf("%d omitted containers: %q", omitted, got.String())
		}
	}
}
