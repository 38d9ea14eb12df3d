// Package need names a test's requirements. If one is missing, the test is skipped with the reason,
// so the plain test command passes on a machine with only Go and git. If COPSE_TEST_NO_SKIP is set,
// as in CI, which installs everything, the test fails instead.
package need

import (
	"os"
	"testing"
)

// Skip skips a test for the given reason, or fails it if skipping is not allowed.
func Skip(tb testing.TB, reason string) {
	tb.Helper()
	if os.Getenv("COPSE_TEST_NO_SKIP") != "" {
		tb.Fatalf("this test must not be skipped here: %s", reason)
	}
	tb.Skip(reason)
}
