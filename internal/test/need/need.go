// Package need names a test's requirements. If one is missing, the test is skipped with the reason,
// so the plain test command passes on a machine with only Go and git. If COPSE_TEST_NO_SKIP is set,
// as in CI, which installs everything, the test fails instead.
//
// If COPSE_TEST_ONLY_GO is set, every program that a test looks for here is missing. CI runs the
// plain test command so: the command then does the same there as on a machine with only Go and git,
// and the tests that need more run once, where nothing may be skipped.
package need

import (
	"os"
	"os/exec"
	"runtime/debug"
	"slices"
	"testing"
)

// Skip skips a test for the given reason, or fails it if skipping is not allowed.
func Skip(tb testing.TB, reason string) {
	tb.Helper()
	if All() {
		tb.Fatalf("this test must not be skipped here: %s", reason)
	}
	tb.Skip(reason)
}

// All reports whether nothing may be skipped.
func All() bool { return os.Getenv("COPSE_TEST_NO_SKIP") != "" }

// OnlyGo reports whether every program but Go and git counts as missing.
func OnlyGo() bool { return os.Getenv("COPSE_TEST_ONLY_GO") != "" }

// Installed returns the path of a program, "" if it is missing.
func Installed(name string) string {
	if OnlyGo() {
		return ""
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return ""
	}
	return path
}

// Program returns the path of a program, and skips the test if it is missing.
func Program(tb testing.TB, name string) string {
	tb.Helper()
	path := Installed(name)
	if path == "" {
		Skip(tb, name+" is not installed")
	}
	return path
}

// Present reports whether a file of an installed program exists, such as one below node_modules.
func Present(path string) bool {
	if OnlyGo() {
		return false
	}
	_, err := os.Stat(path)
	return err == nil
}

// RaceDetector reports whether the race detector watches the test, which then takes more time and
// memory.
func RaceDetector() bool {
	info, ok := debug.ReadBuildInfo()
	return ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}
