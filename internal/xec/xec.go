// Package xec runs other programs, and is the only package that imports
// os/exec.
//
// Use [Run] for a program that answers a question: it starts the
// program in a new process group, waits for it, and returns its
// output. Run guarantees that
//
//   - it ends: by the context, by the time limit of every command, and on Linux and Windows also
//     when this process is killed, except with [Command.Outlives];
//   - the rest of the process group is killed before it returns, however
//     the program ended, and a process that left the group but kept the output
//     open does not delay it;
//   - it keeps at most [Command.MaxOutput] bytes of the output, reads and discards
//     the rest, and reports it in [Result.Truncated], or ends the
//     program there if a part of the output is useless; of what the program writes to its standard
//     error, it keeps at most 64 KiB;
//   - the program sees only the given environment and nothing of this
//     process's own, and is looked up in that environment's PATH;
//   - it gets no terminal, and no standard input except the caller's;
//   - without a working directory, it starts in the user's home directory: a shim of a version manager
//     chooses the program by the files of the directory in which it starts, and its parents;
//   - on Windows, a batch file gets no argument that the command interpreter evaluates.
//
// A program that ended with a status other than 0 is an [*ExitError]; a missing
// one is [ErrNotInstalled]; one that exceeded its time limit is
// [context.DeadlineExceeded]. Errors name the program, never its arguments,
// which may contain secrets.
package xec

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"sync/atomic"
	"time"

	"github.com/copse-dev/copse/internal/xec/terminal"
)

const (
	// DefaultTimeout is the default time limit of a command.
	DefaultTimeout = 10 * time.Second
	// DefaultMaxOutput is the default number of stored bytes of a command's output.
	DefaultMaxOutput = 1 << 20
	// maxErrors is the maximum number of stored bytes of a command's standard error: a server can make
	// git print any number of them.
	maxErrors = 64 << 10

	// pipeDelay is how long Stream waits for the output to be closed once the
	// program itself has ended.
	pipeDelay = 500 * time.Millisecond
	// drainDelay is the same where all of the output counts. What is in the pipe by then is
	// lost, and on a busy machine this process may have to wait for its turn to read it.
	drainDelay = 5 * time.Second
)

// Command describes a program to run.
type Command struct {
	// Name is looked up in the PATH of Env, or is an absolute path.
	Name string
	Args []string
	// Dir is the working directory. Without one, [Run] uses a directory that no repository fills, and
	// the others that of this process.
	Dir string
	// Env is the complete environment.
	Env Env
	// Stdin is the program's input; nothing when empty.
	Stdin []byte
	// Timeout is the time limit; 0 is DefaultTimeout.
	Timeout time.Duration
	// MaxOutput is the number of stored bytes of the output; 0 is DefaultMaxOutput.
	MaxOutput int
	// Whole means that a part of the output is useless: [Run] ends the program when it has written
	// more than MaxOutput.
	Whole bool
	// MaxMemory is how many bytes the program, and each that it starts, may allocate, where the
	// system can limit that (Linux); 0 means no limit. Files that are mapped do not count.
	MaxMemory uint64
	// MaxProcessor is how much processor time the program may use, in whole seconds, where the system
	// can limit that (Linux); 0 means no limit. A program that uses it up ends with [ErrProcessor].
	MaxProcessor time.Duration
	// Grace is how long the program may take to end after it was asked to, where the system can ask
	// (Unix). With 0, [Stream] waits a quarter of a second, and [Run] kills the program without asking.
	Grace time.Duration
	// Hurry ends the grace early when it is closed; nil never does.
	Hurry <-chan struct{}
	// Guard, if set, runs the program, for [Run] one without input. With it, what the program has started ends with
	// this process, too.
	Guard *Guard
	// Person, if set, is the terminal of the person for whom [Stream] runs a program with a guard.
	Person *terminal.Person
	// Outlives means that the program that [Run] started continues when this process is killed. It is for
	// a short program that writes: git that is ended at the wrong moment leaves a lock file.
	Outlives bool
	// Started, if set, is called by [Stream] with the number of the process that it
	// started: the guard's, if there is one.
	Started func(pid int)
	// Stopping, if set, is called by [Stream] before it asks the program to end.
	Stopping func()
}

// Result is the output of a program.
type Result struct {
	Stdout, Stderr []byte
	// Truncated means that the output exceeded the limit.
	Truncated bool
}

// Run runs c to its end. The result contains the output so far, even if there is an error.
func Run(ctx context.Context, c Command) (Result, error) {
	found, err := c.program()
	if err != nil {
		return Result{}, err
	}
	timeout := cmp.Or(c.Timeout, DefaultTimeout)
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()

	most := cmp.Or(c.MaxOutput, DefaultMaxOutput)
	stdout, stderr := capture{limit: most}, capture{limit: min(most, maxErrors)}
	if c.Whole {
		stdout.full = cancel
	}

	cmd := exec.CommandContext(limited, found.path)
	cmd.Args, cmd.Env = found.argv, found.env
	cmd.Dir = cmp.Or(c.Dir, c.Env.neutral())
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.WaitDelay = drainDelay
	var lifeline *os.File
	switch {
	case len(c.Stdin) > 0:
		cmd.Stdin = bytes.NewReader(c.Stdin)
	case c.Guard != nil:
		r, w, err := os.Pipe()
		if err != nil {
			return Result{}, fmt.Errorf("run %s: %w", c.Name, err)
		}
		defer r.Close()
		defer w.Close()
		cmd.Path, cmd.Err, cmd.Stdin, lifeline = c.Guard.Path, nil, r, w
		cmd.Args = slices.Concat(c.Guard.Argv, []string{c.patience().String(), "", found.path}, found.argv)
	}

	killed, err := runInGroup(cmd, c, lifeline)
	res := Result{
		Stdout:    stdout.kept.Bytes(),
		Stderr:    stderr.kept.Bytes(),
		Truncated: stdout.cut,
	}

	exit, exited := errors.AsType[*exec.ExitError](err)
	switch {
	case err == nil, errors.Is(err, exec.ErrWaitDelay), res.Truncated && c.Whole:
		return res, nil
	case killed && ctx.Err() != nil:
		return res, fmt.Errorf("run %s: %w", c.Name, context.Cause(ctx))
	case killed:
		return res, fmt.Errorf("run %s: not finished after %s: %w", c.Name, timeout, context.DeadlineExceeded)
	case exited && c.usedUp(exit.ProcessState):
		return res, fmt.Errorf("run %s: not finished after %s of processor time: %w", c.Name, c.MaxProcessor, ErrProcessor)
	case exited:
		return res, &ExitError{
			Program: c.Name,
			Code:    exit.ExitCode(),
			State:   exit.String(),
			Stderr:  excerpt(&stderr),
		}
	default:
		return res, fmt.Errorf("run %s: %w", c.Name, err)
	}
}

// usedUp reports whether a program was killed because of its processor time. What the system reports
// of it can be much less than what it limits, on a virtual machine that waits for the real one.
func (c Command) usedUp(ended *os.ProcessState) bool {
	return c.MaxProcessor > 0 && ended.ExitCode() == -1 && ended.UserTime()+ended.SystemTime() >= c.MaxProcessor/2
}

// runInGroup starts cmd in its own process group, waits for it, and kills the rest of the group.
// It reports whether the context ended the program. lifeline, if there is one, leads to the program's guard.
func runInGroup(cmd *exec.Cmd, c Command, lifeline *os.File) (killed bool, err error) {
	g, err := newGroup(cmd)
	if err != nil {
		return false, err
	}
	defer g.close()
	switch {
	case lifeline != nil: // the guard does it: with a signal as well, it would not wait
	case c.Outlives:
		err = g.outlive()
	default:
		endWithCaller(cmd)
	}
	if err != nil {
		return false, err
	}
	var cancelled atomic.Bool
	cmd.Cancel = func() error {
		cancelled.Store(true)
		// Exec reads it after this call. It is how long the program, and what has its output, may take.
		cmd.WaitDelay = cmp.Or(c.Grace, pipeDelay)
		switch {
		case lifeline != nil:
			cmd.WaitDelay += guardGrace
			if c.Grace > 0 {
				_, err := lifeline.Write([]byte{AskProgram})
				return err
			}
			return lifeline.Close()
		case c.Grace > 0 && g.ask():
			return nil
		}
		return g.kill()
	}
	if err := cmd.Start(); err != nil {
		if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
			return true, err
		}
		// The error of a missing directory reads as if the program was missing.
		if _, dirErr := os.Stat(cmd.Dir); cmd.Dir != "" && dirErr != nil {
			err = dirErr
		}
		return false, err
	}
	if err := g.adopt(cmd.Process); err != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		return false, err
	}
	limit(cmd.Process.Pid, c)
	err = cmd.Wait()
	_ = g.kill()
	return cancelled.Load(), err
}

// capture keeps the first limit bytes written to it.
type capture struct {
	kept  bytes.Buffer
	limit int
	cut   bool
	full  func() // is called when there is more; can be nil
}

func (c *capture) Write(p []byte) (int, error) {
	if room := c.limit - c.kept.Len(); len(p) > room {
		if !c.cut && c.full != nil {
			c.full()
		}
		c.cut = true
		c.kept.Write(p[:room])
		return len(p), nil
	}
	return c.kept.Write(p)
}
