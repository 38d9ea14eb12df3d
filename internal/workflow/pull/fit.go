package pull

import (
	"fmt"

	"github.com/copse-dev/copse/internal/github"
	"github.com/copse-dev/copse/internal/page"
)

// Shares of the size budget. Failing checks come first in each list, so that
// what is cut is what matters least.
const (
	checksBudget  = 5 << 10
	reviewsBudget = 2 << 10
	failingBudget = 1 << 10
)

// Fit returns a status whose lists are cut to the budgets of an answer. Its notes say
// what was cut.
func Fit(s github.Status) github.Status {
	// No note may be written into a list that the client keeps.
	s.Notes = append([]string(nil), s.Notes...)
	if n := page.Fit(s.Checks, page.Size, checksBudget); n < len(s.Checks) {
		s.Notes = append(s.Notes, fmt.Sprintf("showing %d of %d checks, failing ones first, then pending ones", n, len(s.Checks)))
		s.Checks = s.Checks[:n]
	}
	if n := page.Fit(s.Reviews, page.Size, reviewsBudget); n < len(s.Reviews) {
		s.Notes = append(s.Notes, fmt.Sprintf("showing %d of %d reviews, the ones that count first", n, len(s.Reviews)))
		s.Reviews = s.Reviews[:n]
	}
	if n := page.Fit(s.Summary.Failing, page.Size, failingBudget); n < len(s.Summary.Failing) {
		s.Notes = append(s.Notes, fmt.Sprintf("naming %d of %d failing checks", n, len(s.Summary.Failing)))
		s.Summary.Failing = s.Summary.Failing[:n]
	}
	return s
}
