// Package rig is the common part of the soak's programs: a place, the programs, and the time.
package rig

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Result is one line of the table.
type Result struct {
	What string
	// Tried is how often, of what kind; Survived is how many of them went as they should,
	// Lost how many did not.
	Tried, Survived, Lost int
	Note                  string
}

// Rig is what a part has.
type Rig struct {
	Context  context.Context //nolint:containedctx // a rig lives as long as one part
	Dir      string          // of its own
	Bin      string          // the programs
	Until    time.Time
	Random   *rand.Rand
	Complete bool // the long form: nothing is cut short
}

// Copse returns the path of the program.
func (r *Rig) Copse() string { return filepath.Join(r.Bin, "copse") }

// GoOn reports whether there is time for one more.
func (r *Rig) GoOn() bool { return time.Now().Before(r.Until) && r.Context.Err() == nil }

// Command runs copse to its end and returns what it printed.
func (r *Rig) Command(dir string, env []string, args ...string) (string, error) {
	cmd := exec.CommandContext(r.Context, r.Copse(), args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return stdout.String(), fmt.Errorf("copse %s: %w: %s", strings.Join(args, " "), err, stderr.String())
	}
	return stdout.String(), nil
}

// Repository makes a repository with everything in it, and returns its directory.
func (r *Rig) Repository(name string) (string, error) {
	dir := filepath.Join(r.Dir, name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	for name, text := range map[string]string{
		"justfile": "hello:\n  @echo hello\nsleep:\n  @sleep 30\n", "README.md": strings.Repeat("Some words about it.\n", 50), "main.go": "package main\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return "", err
		}
	}
	for _, args := range [][]string{
		{"init", "-q", "-b", "main"}, {"add", "-A"}, {"-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "-m", "start"},
		{"branch", "feature/a"}, {"branch", "feature/b"}, {"checkout", "-q", "-b", "feature/c"},
	} {
		cmd := exec.CommandContext(r.Context, "git", args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			return "", fmt.Errorf("git %v: %w: %s", args, err, out)
		}
	}
	for _, args := range [][]string{{"init", "--branches", "--items", "--commands"}, {"branch", "adopt", "--yes", "--offline"}, {"item", "create", "First"}} {
		if _, err := r.Command(dir, nil, args...); err != nil {
			return "", err
		}
	}
	return dir, nil
}

// Tail returns the end of a long text.
func Tail(s string) string { return s[max(0, len(s)-500):] }
