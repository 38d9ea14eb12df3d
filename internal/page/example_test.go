package page_test

import (
	"fmt"

	"github.com/copse-dev/copse/internal/page"
)

// The second page continues after the last key of the first one, although an element before it is
// gone by then.
func Example() {
	limits := page.Limits{Default: 2, Max: 100}
	list := page.List[string]{Key: func(branch string) string { return branch }}
	branches := []string{"api", "docs", "fix", "main"}
	var request page.Request
	for {
		window, err := limits.Open(request, "list_branches")
		if err != nil {
			fmt.Println(err)
			return
		}
		shown := list.Cut(window, branches)
		fmt.Println(shown.Items, shown.Showing())
		if shown.Next == "" {
			return
		}
		request.Cursor = shown.Next
		branches = branches[1:]
	}
	// Output:
	// [api docs] 2 of 4
	// [fix main] 2 of 3
}
