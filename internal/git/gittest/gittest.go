// Package gittest runs the real git program for tests, isolated from the developer's own
// configuration.
//
// The program is the one in the variable COPSE_TEST_GIT (an absolute path), so tests can run with
// several releases, or else the one on the PATH. Without git, the test is skipped.
package gittest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/copse-dev/copse/internal/xec"
)

// ProgramVar names the variable with the git program for tests.
const ProgramVar = "COPSE_TEST_GIT"

// Git runs git with its own environment.
type Git struct {
	// TB is the running test.
	TB testing.TB
	// Env is git's environment. It contains only PATH, a temporary HOME, and the author's name, and
	// can be changed.
	Env xec.Env
	// Home is the temporary home directory, with symbolic links resolved.
	Home string
}

// New returns a Git for one test.
func New(tb testing.TB) *Git {
	tb.Helper()
	path := os.Getenv("PATH")
	if program := os.Getenv(ProgramVar); program != "" {
		path = filepath.Dir(program) + string(filepath.ListSeparator) + path
	}
	home := Dir(tb)
	g := &Git{TB: tb, Home: home, Env: xec.Env{
		"PATH=" + path,
		"HOME=" + home,
		"GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=Ada", "GIT_AUTHOR_EMAIL=ada@example.com",
		"GIT_COMMITTER_NAME=Ada", "GIT_COMMITTER_EMAIL=ada@example.com",
		"GIT_AUTHOR_DATE=2026-01-02T03:04:05Z", "GIT_COMMITTER_DATE=2026-01-02T03:04:05Z",
		"GIT_ALLOW_PROTOCOL=file",
		"LC_ALL=C",
		"GIT_TEST_FSYNC=0", // a test does not survive a power loss, and need not wait for the disk
		"SYSTEMROOT=" + os.Getenv("SYSTEMROOT"),
		// A test program that a test starts as a child exits without delay, too.
		"GORACE=" + os.Getenv("GORACE"),
	}}
	if _, err := g.Env.LookPath("git"); err != nil {
		tb.Skipf("git: %v", err)
	}
	return g
}

// Dir returns a temporary directory, with symbolic links resolved.
func Dir(tb testing.TB) string {
	tb.Helper()
	dir, err := filepath.EvalSymlinks(tb.TempDir())
	if err != nil {
		tb.Fatal(err)
	}
	return dir
}

// Run runs git in dir and returns its output, without the newline at the end.
func (g *Git) Run(dir string, args ...string) string {
	g.TB.Helper()
	out, err := g.Try(dir, args...)
	if err != nil {
		g.TB.Fatalf("git %s: %v", strings.Join(args, " "), err)
	}
	return out
}

// Try runs git as Run does, for a command that may fail. The error is the *xec.ExitError.
func (g *Git) Try(dir string, args ...string) (string, error) {
	g.TB.Helper()
	res, err := xec.Run(g.TB.Context(), xec.Command{
		Name: "git", Args: args, Dir: dir, Env: g.Env, MaxOutput: 64 << 20,
	})
	if _, exited := errors.AsType[*xec.ExitError](err); err != nil && !exited {
		g.TB.Fatalf("git %s: %v", strings.Join(args, " "), err)
	}
	return strings.TrimSuffix(string(res.Stdout), "\n"), err
}

// Init creates a repository in a new directory and returns it. The branch is main; args are further
// arguments of "git init".
func (g *Git) Init(args ...string) string {
	g.TB.Helper()
	dir := filepath.Join(Dir(g.TB), "repo")
	where := filepath.Dir(dir)
	_, err := g.Try(where, slices.Concat([]string{"init", "-q", "--initial-branch=main"}, args, []string{dir})...)
	if err != nil { // before git 2.28
		if _, err = g.Try(where, slices.Concat([]string{"init", "-q"}, args, []string{dir})...); err == nil {
			g.Run(dir, "symbolic-ref", "HEAD", "refs/heads/main")
		}
	}
	if err != nil {
		if os.Getenv("COPSE_TEST_NO_SKIP") != "" {
			g.TB.Fatalf("this version of git has no such repositories; set %s to a later one: %v", ProgramVar, err)
		}
		g.TB.Skipf("this version of git has no such repositories; set %s to a later one: %v", ProgramVar, err)
	}
	return dir
}

// Commit creates an empty commit and returns its hash.
func (g *Git) Commit(dir, message string) string {
	g.TB.Helper()
	g.Run(dir, "commit", "-q", "--allow-empty", "-m", message)
	return g.Run(dir, "rev-parse", "HEAD")
}

// AtLeast reports whether git is this release or a newer one.
func (g *Git) AtLeast(major, minor int) bool {
	g.TB.Helper()
	var haveMajor, haveMinor int
	out := g.Run(g.Home, "version")
	if _, err := fmt.Sscanf(out, "git version %d.%d", &haveMajor, &haveMinor); err != nil {
		g.TB.Fatalf("git version printed %q: %v", out, err)
	}
	return haveMajor > major || haveMajor == major && haveMinor >= minor
}

// Write writes a file, and the directories it needs.
func Write(tb testing.TB, path, text string) {
	tb.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		tb.Fatal(err)
	}
}
