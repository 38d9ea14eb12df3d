package failure_test

import (
	"errors"
	"fmt"

	"github.com/copse-dev/copse/internal/failure"
)

// One error is worded by each surface in its own terms.
func Example() {
	err := error(&failure.Error{
		Kind: failure.NoState,
		What: failure.Text("No branch state"),
		Do:   func(w failure.Words) string { return "Run '" + w.Track + "'." },
	})
	for _, words := range []failure.Words{{Track: "copse branch init"}, {Track: "twig init"}} {
		e := failure.Of(fmt.Errorf("read the stack: %w", err))
		fmt.Println(e.Message(words) + ": " + e.Hint(words))
	}
	fmt.Println(failure.Of(errors.New("out of paper")).Kind == failure.Internal)
	// Output:
	// No branch state: Run 'copse branch init'.
	// No branch state: Run 'twig init'.
	// true
}
