package pullrequest_test

import (
	"fmt"

	"github.com/copse-dev/copse/internal/github/pullrequest"
)

// Why is a pull request blocked? Every surface shows what Summarize finds in the evidence.
func ExampleSummarize() {
	failure := "failure"
	s := pullrequest.Summarize(pullrequest.Evidence{
		PullRequest: pullrequest.PullRequest{Number: 7, State: "open", MergeState: "blocked"},
		Reviews:     []pullrequest.Review{{Author: "grace", State: "CHANGES_REQUESTED"}},
		Checks: []pullrequest.Check{
			{Name: "lint", Status: "completed", Conclusion: &failure, Required: true},
			{Name: "test", Status: "in_progress", Required: true},
		},
		Complete: true,
	})
	fmt.Println("checks:", s.Checks, s.Failing)
	fmt.Println("review:", s.ReviewDecision)
	for _, blocker := range s.Blockers {
		fmt.Println("blocked:", blocker)
	}
	// Output:
	// checks: failing [lint]
	// review: changes_requested
	// blocked: 1 required check failing: lint
	// blocked: 1 required check pending: test
}
