package fact_test

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/copse-dev/copse/internal/fact"
)

// "There is none" and "it could not be learned" are different answers.
func Example() {
	asOf := time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC)
	for _, reviewer := range []fact.Fact[string]{
		fact.Known("ada", "GitHub", asOf),
		fact.None[string]("GitHub", asOf),
		fact.Unavailable[string]("GitHub did not answer", "Try again."),
	} {
		data, err := json.Marshal(reviewer)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(string(data))
	}
	// Output:
	// {"state":"known","value":"ada","source":"GitHub","as_of":"2026-01-02T15:04:05Z"}
	// {"state":"none","source":"GitHub","as_of":"2026-01-02T15:04:05Z"}
	// {"state":"unavailable","reason":"GitHub did not answer","hint":"Try again."}
}
