package xec

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync/atomic"
	"time"
)

// grace is how long a program that is to stop may take for it.
const grace = 250 * time.Millisecond

// marker is the environment variable by which what a program started is found again,
// wherever it has moved.
const marker = "COPSE_RUN_ID"

// Stream runs c to its end like [Run], and hands both streams to out as one, in the
// order in which they were written; out is not called after the return. It keeps
// nothing itself, so MaxOutput does not count.
//
// The program has a session of its own, and so no terminal. When the context or the
// time limit ends it, it is asked to stop, and killed a quarter of a second later with
// everything it started: also what has moved to another session or ignores signals,
// as far as the system tells whose child it is (Linux, macOS and Windows do). When the
// program ends by itself, only what is left of its own group is killed: what has moved
// away then was meant to stay.
func Stream(ctx context.Context, c Command, out io.Writer) error {
	path, err := c.Env.LookPath(c.Name)
	if err != nil {
		return fmt.Errorf("run %s: %w", c.Name, err)
	}
	timeout := cmp.Or(c.Timeout, DefaultTimeout)
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()

	id := rand.Text()
	cmd := exec.Command(path, c.Args...) //nolint:noctx // it is ended below, more gently
	cmd.Args[0] = c.Name
	cmd.Dir = c.Dir
	cmd.Env = c.Env.With(marker + "=" + id)
	cmd.Stdout, cmd.Stderr = out, out // the same writer, so one pipe
	cmd.WaitDelay = pipeDelay

	stopped, err := runSession(limited, cmd, id)
	exit, exited := errors.AsType[*exec.ExitError](err)
	switch {
	case stopped && ctx.Err() != nil:
		return fmt.Errorf("run %s: %w", c.Name, context.Cause(ctx))
	case stopped:
		return fmt.Errorf("run %s: not finished after %s: %w", c.Name, timeout, context.DeadlineExceeded)
	case err == nil, errors.Is(err, exec.ErrWaitDelay):
		return nil
	case exited:
		return &ExitError{Program: c.Name, Code: exit.ExitCode(), State: exit.String()}
	}
	return fmt.Errorf("run %s: %w", c.Name, err)
}

// runSession starts cmd, waits for it, and ends everything it started if ctx ends
// before it does, of which it tells.
func runSession(ctx context.Context, cmd *exec.Cmd, id string) (stopped bool, err error) {
	if ctx.Err() != nil {
		return true, context.Cause(ctx)
	}
	g, err := newGroup(cmd)
	if err != nil {
		return false, err
	}
	defer g.close()
	ownSession(cmd)
	if err := cmd.Start(); err != nil {
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
	var early atomic.Bool
	ended, swept := make(chan struct{}), make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(swept)
		early.Store(true)
		// Before they lose their parents, by which they are known.
		family := descendants(cmd.Process.Pid)
		g.terminate()
		select {
		case <-ended:
		case <-time.After(grace):
		}
		_ = g.kill()
		for _, p := range family {
			_ = p.Kill()
			_ = p.Release()
		}
		killMarked(id)
	})
	err = cmd.Wait()
	close(ended)
	if !stop() {
		<-swept
	}
	_ = g.kill()
	return early.Load(), err
}

// killMarked kills every process with the marker of a run, until there are none: while
// it looks, they may be starting others.
func killMarked(id string) {
	for range 20 {
		found := marked(marker + "=" + id)
		if len(found) == 0 {
			return
		}
		for _, p := range found {
			_ = p.Kill()
			_ = p.Release()
		}
	}
}
