// Package program runs the git program so that it only reads, and runs nothing that the repository
// names: no hook, monitor, filter, driver, pager, editor, helper, or remote, no transport, and no
// fetching of missing objects. It takes no optional locks, asks no questions, and has limits of
// time, output, and memory.
//
// Create a [Git] with [New]; its commands must only read, except those of [Git.Writing] and [Git.Brief]. A [Guard]
// provides what depends on the repository's own files.
package program

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/copse-dev/copse/internal/git/override"
	"github.com/copse-dev/copse/internal/xec"
	"github.com/copse-dev/copse/internal/xec/guard"
)

const (
	// timeout limits the git program if the context does not. The status of a large repository on a
	// cold disk takes long.
	timeout = time.Minute
	// maxOutput limits its output: some hundred thousand files in a status.
	maxOutput = 64 << 20
	// maxMemory limits its memory, if the system supports that: two versions of the largest file
	// that git compares, and an index.
	maxMemory = 2 << 30
	// suspicious is how long git runs before its guard looks for the cause. By then, git can have read a hundred
	// megabytes of a file that never ends.
	suspicious = 100 * time.Millisecond
	// writingTime limits a command that writes: a new worktree of a large repository takes minutes.
	writingTime = 15 * time.Minute
	// grace is how long a command that writes may take to end when it is asked to.
	grace = 5 * time.Second
	// briefTime limits the processor time of a brief command that continues without copse.
	briefTime = 10 * time.Second
	// patience is how much longer it may run if the cause only slows it down.
	patience = 550 * time.Millisecond
)

var errTooMuch = errors.New("git printed more than copse can read")

// Guard protects git in one repository.
type Guard interface {
	// Settings returns the configuration, as "key=value", that overrides the programs in the
	// repository's own files. Its error is the reason why git cannot run.
	Settings(ctx context.Context) ([]string, error)
	// Obstacle is called while git takes long. Its error is about a file that git may wait for or read
	// forever, or if slow is true, one with which git may still finish; nil if there is none.
	Obstacle(ctx context.Context) (slow bool, err error)
}

// Repository is where git runs.
type Repository struct {
	// Dir is where git finds the repository, without looking further up: its .git is
	// there, or it is a bare repository.
	Dir string
	// Root is the root of the worktree, whatever the configuration contains by then; empty if there
	// is none.
	Root string
	// Bare means that Dir itself is the repository.
	Bare bool
}

// Git is the git program for one repository.
type Git struct {
	dir      string
	env      func() xec.Env
	settings []string
	guard    Guard
	// maxOutput limits the output.
	maxOutput int
	how       how
	// self is as in Under.
	self string
}

// how is how a command may end.
type how uint8

const (
	killed   how = iota // at once
	asked               // by itself, when it is asked to
	complete            // by itself
)

// New returns the git program for a place. env is called at most once, when git runs first, and returns
// the complete environment; of git's variables, only those that locate the user's configuration are used.
func New(at Repository, env func() xec.Env, guard Guard) Git {
	settings := override.Fixed()
	if at.Bare {
		settings = append(settings, "safe.bareRepository=all")
	} else {
		settings = append(settings, "safe.bareRepository=explicit")
	}
	own := sync.OnceValue(func() xec.Env { return environment(env(), at) })
	return Git{dir: at.Dir, env: own, settings: settings, guard: guard, maxOutput: maxOutput}
}

// Within returns git with another limit on its output, in bytes. If git prints more, it ends, and
// that is an error.
func (g Git) Within(limit int) Git {
	g.maxOutput = limit
	return g
}

// Under returns git whose long commands run under a guard, which is the program self: what git itself has started ends,
// too, when this process is killed. self begins with [guard.Main]; "" is for none.
func (g Git) Under(self string) Git {
	g.self = self
	return g
}

// Long returns a command of git that takes long, such as a transfer, with the guard of Under.
func (g Git) Long(c xec.Command) xec.Command { return guard.Once(c, g.self) }

// Writing returns git for a command that writes to the repository, which the caller has checked. When its
// context ends, git is asked to end, and can remove its lock files.
func (g Git) Writing() Git {
	g.how = asked
	return g
}

// Brief returns git as Writing does, for a command that takes milliseconds. It runs to its end, even if its
// context ends or this process is killed: git that gets a signal while it creates a lock file leaves it, and
// then no git can write there until somebody removes it. [override.Fixed] limits how long it waits for a lock.
func (g Git) Brief() Git {
	g.how = complete
	return g
}

// Run runs git and returns its output.
func (g Git) Run(ctx context.Context, args ...string) ([]byte, error) {
	return g.Feed(ctx, nil, args...)
}

// Feed runs git as Run does, with input.
func (g Git) Feed(ctx context.Context, input []byte, args ...string) ([]byte, error) {
	out, _, err := g.run(ctx, input, args)
	return out, err
}

// Compare runs git as Run does, for a command that compares the worktree. whole is false if git
// succeeded without a part of it, such as a directory that it could not open.
func (g Git) Compare(ctx context.Context, args ...string) (out []byte, whole bool, err error) {
	out, stderr, err := g.run(ctx, nil, args)
	return out, !leftOut(stderr), err
}

// leftOut reports whether git says that it could not open a directory or read a file.
func leftOut(stderr []byte) bool {
	for line := range bytes.Lines(stderr) {
		if bytes.HasPrefix(line, []byte("warning: could not open directory ")) || bytes.HasPrefix(line, []byte("error: ")) {
			return true
		}
	}
	return false
}

// run runs git and returns its output, and what it wrote to its standard error.
func (g Git) run(ctx context.Context, input []byte, args []string) (out, stderr []byte, err error) {
	own, err := g.guard.Settings(ctx)
	if err != nil {
		return nil, nil, err
	}
	line := make([]string, 0, 3+2*(len(g.settings)+len(own))+len(args))
	// Git itself enters the directory: package xec says why it does not start there.
	line = append(line, "-C", g.dir, "--no-pager")
	for _, settings := range [][]string{g.settings, own} {
		for _, s := range settings {
			line = append(line, "-c", s)
		}
	}
	c := xec.Command{
		Name: "git", Args: append(line, args...), Env: g.env(), Stdin: input,
		Timeout: timeout, MaxOutput: g.maxOutput, Whole: true, MaxMemory: maxMemory,
	}
	switch g.how {
	case asked:
		c.Timeout, c.Grace = writingTime, grace
		c = g.Long(c)
	case complete:
		if ctx.Err() != nil {
			return nil, nil, context.Cause(ctx)
		}
		ctx = context.WithoutCancel(ctx)
		c.Outlives, c.MaxProcessor = true, briefTime
	}
	ctx, stop := Guarded(ctx, g.guard)
	defer stop()
	res, err := xec.Run(ctx, c)
	if exit, ok := errors.AsType[*xec.ExitError](err); ok {
		exit.Stderr = complaints(exit.Stderr)
	}
	if err != nil {
		return nil, nil, err
	}
	if res.Truncated {
		return nil, nil, fmt.Errorf("%w (%d MB)", errTooMuch, g.maxOutput>>20)
	}
	return res.Stdout, res.Stderr, nil
}

// complaints returns git's error messages, without warnings and without lines about attributes.
// Those quote files of patterns, which a link or a setting of the repository can replace with any
// file of the user.
func complaints(stderr string) string {
	var kept strings.Builder
	for line := range strings.Lines(stderr) {
		if !strings.HasPrefix(line, "warning: ") && !strings.Contains(line, "is not a valid attribute name: ") {
			kept.WriteString(line)
		}
	}
	return kept.String()
}

// Guarded returns a context for a run of git, and a function to call when git has ended. If git
// runs for long, the guards look for the cause; a finding ends the context, as its cause.
func Guarded(ctx context.Context, guards ...Guard) (_ context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	late := time.AfterFunc(suspicious, func() {
		for _, g := range guards {
			slow, err := g.Obstacle(ctx)
			if err == nil {
				continue
			}
			if slow {
				select {
				case <-ctx.Done():
				case <-time.After(patience):
				}
			}
			cancel(err)
			return
		}
	})
	return ctx, func() {
		late.Stop()
		cancel(nil)
	}
}

// kept are the variables of git that reach it: those that locate the user's configuration and git's
// own programs, those with the user's configuration in the environment, and those that make git
// more careful. All others name another repository, change the reading of this one, or name
// programs.
func kept(key string) bool {
	switch key {
	case "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_COUNT", "GIT_ATTR_NOSYSTEM",
		"GIT_EXEC_PATH", "GIT_TEST_ASSUME_DIFFERENT_OWNER":
		return true
	}
	for _, prefix := range []string{"GIT_CONFIG_KEY_", "GIT_CONFIG_VALUE_", "GIT_LFS_"} {
		if strings.HasPrefix(key, prefix) {
			return true
		}
	}
	return false
}

// environment returns the environment for the git program.
func environment(env xec.Env, at Repository) xec.Env {
	clean := make(xec.Env, 0, len(env)+8)
	for _, kv := range env {
		key, _, _ := strings.Cut(kv, "=")
		if upper := strings.ToUpper(key); !strings.HasPrefix(upper, "GIT_") || kept(upper) {
			clean = append(clean, kv)
		}
	}
	clean = clean.Without("SSH_ASKPASS").With(
		"GIT_OPTIONAL_LOCKS=0",
		"GIT_TERMINAL_PROMPT=0",
		"GIT_NO_LAZY_FETCH=1",
		// Git reads all of them at each start, and they change what the history contains.
		"GIT_NO_REPLACE_OBJECTS=1",
		// A list without any protocol; older releases support only this.
		"GIT_ALLOW_PROTOCOL=:",
		"LC_ALL=C",
		// A filter of the user, such as "python -m nbstripout", must not find modules in the repository.
		"PYTHONSAFEPATH=1",
		"PATH="+absolute(env.Get("PATH")),
	)
	if at.Root != "" {
		clean = append(clean, "GIT_WORK_TREE="+at.Root)
	}
	// The empty entry disables the resolution of links. A path with a separator cannot be
	// expressed.
	const separator = string(filepath.ListSeparator)
	if above := filepath.Dir(at.Dir); !strings.Contains(above, separator) {
		clean = append(clean, "GIT_CEILING_DIRECTORIES="+separator+above)
	}
	return clean
}

// absolute returns the absolute entries of a search path: the others would lead into the
// repository.
func absolute(path string) string {
	var dirs []string
	for _, dir := range filepath.SplitList(path) {
		if filepath.IsAbs(dir) {
			dirs = append(dirs, dir)
		}
	}
	return strings.Join(dirs, string(filepath.ListSeparator))
}
