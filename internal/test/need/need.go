// Package need says what a test cannot do without. Where that is missing the
// test is skipped with the reason, so that the plain test command passes on a
// machine with Go and git alone; where COPSE_TEST_NO_SKIP is set, as in CI,
// which installs everything, it fails instead.
package need

import (
	"os"
	"testing"
)

// Skip skips a test for the given reason, or fails it where nothing may be skipped.
func Skip(tb testing.TB, reason string) {
	tb.Helper()
	if os.Getenv("COPSE_TEST_NO_SKIP") != "" {
		tb.Fatalf("this test must not be skipped here: %s", reason)
	}
	tb.Skip(reason)
}
