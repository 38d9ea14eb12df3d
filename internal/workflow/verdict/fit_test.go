package verdict

import (
	"fmt"
	"testing"

	"github.com/copse-dev/copse/internal/page"
)

// However many conflicts and branches there are, the first conflicts stay, and the tool that lists the
// others is named.
func TestFitKeepsConflicts(t *testing.T) {
	t.Parallel()
	for _, branches := range []int{1, 5, 50} {
		s := Status{Total: branches}
		for i := range branches {
			s.Branches = append(s.Branches, Branch{
				Branch: fmt.Sprintf("feature/SHOP-%d-with-a-long-name", i), Parent: "main", Source: "git-town", Ahead: new(1), Behind: new(0),
				NeedsRestack: new(false), Remote: "origin/feature", PullRequest: PullRequest{State: "open", Number: i, Checks: "failing", Failing: []string{"lint", "test", "build"}},
				Worktree: &Worktree{Name: "feature", Dirty: new(0)},
			})
		}
		for i := range 18 {
			c := Conflict{Branches: [2]string{fmt.Sprintf("b%d", i), "main"}}
			for j := range 9 {
				c.Files = append(c.Files, fmt.Sprintf("internal/cart/cart%d.go", j))
			}
			s.Conflicts = append(s.Conflicts, c)
		}
		s = s.Fit()
		if n := len(s.Conflicts); n < 2 || s.Conflicts[0].Branches[0] != "b0" || len(s.Conflicts[1].Files) == 0 || n+s.MoreConflicts != 18 || s.ConflictsHint != "get_conflicts lists all" {
			t.Errorf("%d branches: %+v and %d more, %q", branches, s.Conflicts, s.MoreConflicts, s.ConflictsHint)
		}
		if size := page.Size(s); size > 10<<10 || branches <= 5 && size > 2<<10 {
			t.Errorf("%d branches: %d bytes, %d branches", branches, size, len(s.Branches))
		}
	}
}
