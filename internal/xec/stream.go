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
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/copse-dev/copse/internal/xec/family"
	"github.com/copse-dev/copse/internal/xec/terminal"
)

// Guard is a program that runs another one, and ends everything that one started as soon
// as its own standard input ends; see package guard.
type Guard struct {
	// Path is the program.
	Path string
	// Argv are its name and its first arguments. The grace, the settings of the person's terminal
	// ([terminal.Terminal.State]; "" if the program has no terminal), and the path of the program to
	// run follow, then that program's own name and arguments.
	Argv []string
}

const (
	// AskProgram is what a guard reads when everything has to end.
	AskProgram byte = 0
	// AskedProgram is the same when the program's terminal has already passed Ctrl+C on.
	AskedProgram byte = 1
	// PersonFile is the number of a guard's file that is the person's terminal.
	PersonFile = 3
)

// shortGrace is how long a program that is asked to end may take if its caller does not care.
const shortGrace = 250 * time.Millisecond

// Marker is the environment variable by which what a program started is found again,
// wherever it has moved.
const Marker = "COPSE_RUN_ID"

// guardGrace is how long a guard may take to kill what it guards.
const guardGrace = 3 * time.Second

// patience returns how long the program may take to end after it was asked to.
func (c Command) patience() time.Duration { return cmp.Or(c.Grace, shortGrace) }

// Stream runs c to its end like [Run], and hands both streams to out as one, in the
// order in which they were written. It does not call out after it has returned. It keeps
// nothing itself, so MaxOutput does not count. If c.Started is set, it is called with the
// number of the process once that runs.
//
// The program has a session of its own, and so no terminal except one of its own, with c.Person. Ctrl+C
// that a person types there ends the program as the context does, a second one at once. When the context or the time
// limit ends it, it is asked to stop, and killed after c.Grace with everything it started.
// Windows cannot ask a program, and kills it immediately. With c.Guard, that holds for everything, and also when this
// process is killed. Without, it holds for what has moved to another session or ignores
// signals as far as the system tells whose child it is (Linux and macOS do), and on
// Windows for everything and in every case. When the program ends by itself, only what is
// left of its own group is killed: what has moved away then was meant to stay.
func Stream(ctx context.Context, c Command, out io.Writer) error {
	found, err := c.program()
	if err != nil {
		return err
	}
	timeout := cmp.Or(c.Timeout, DefaultTimeout)
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	limited, interrupt := context.WithCancelCause(limited)
	defer interrupt(nil)
	var screen *terminal.Terminal
	if c.Guard != nil && c.Person != nil {
		if screen, err = c.Person.Open(); err != nil {
			fmt.Fprintf(out, "note: the program gets no terminal: %v\n", err)
		} else {
			defer screen.Close(0)
		}
	}

	id := rand.Text()
	cmd := exec.Command(found.path) //nolint:noctx // it is ended below, more gently
	cmd.Args, cmd.Env = found.argv, found.env.With(Marker+"="+id)
	cmd.Dir = c.Dir
	both := &struct{ io.Writer }{out} // comparable, and the same, so there is one pipe
	cmd.Stdout, cmd.Stderr = both, both
	cmd.WaitDelay = pipeDelay
	run := session{cmd: cmd, id: id, started: c.Started, stopping: c.Stopping, grace: c.patience(), hurry: c.Hurry, screen: screen, out: out}
	if c.Guard != nil {
		cmd.Path, cmd.Err = c.Guard.Path, nil
		state := ""
		if screen != nil {
			state = screen.State()
			cmd.Stdout, cmd.Stderr = screen.Program(), screen.Program()
			cmd.ExtraFiles = []*os.File{c.Person.In()}
		}
		cmd.Args = slices.Concat(c.Guard.Argv, []string{c.patience().String(), state, found.path}, found.argv)
		r, w, err := newLifeline(screen != nil)
		if err != nil {
			return fmt.Errorf("run %s: %w", c.Name, err)
		}
		defer r.Close()
		defer w.Close()
		cmd.Stdin, run.guards, run.lifeline = r, r, w
	}

	stopped, err := run.do(limited, interrupt)
	exit, exited := errors.AsType[*exec.ExitError](err)
	switch {
	case stopped && ctx.Err() != nil:
		return fmt.Errorf("run %s: %w", c.Name, context.Cause(ctx))
	case stopped && interrupted(limited):
		return fmt.Errorf("run %s: %w", c.Name, interruptedError{})
	case stopped:
		return fmt.Errorf("run %s: not finished after %s: %w", c.Name, timeout, context.DeadlineExceeded)
	case err == nil, errors.Is(err, exec.ErrWaitDelay):
		return nil
	case exited:
		return &ExitError{Program: c.Name, Code: exit.ExitCode(), State: exit.String()}
	}
	return fmt.Errorf("run %s: %w", c.Name, err)
}

// interruptedError is the cause of a context that Ctrl+C in the program's terminal has ended.
type interruptedError struct{}

func (interruptedError) Error() string { return "interrupted" }

func (interruptedError) Unwrap() error { return context.Canceled }

func interrupted(ctx context.Context) bool {
	return errors.Is(context.Cause(ctx), interruptedError{})
}

// session is a program that runs in a session of its own.
type session struct {
	cmd *exec.Cmd
	// id is the value of [Marker] in the program's environment.
	id string
	// lifeline, if there is one, is what the program's guard waits for to end.
	lifeline *lifeline
	// guards is the guard's end of it, which only the guard may have: a write fails when the guard has ended.
	guards  *os.File
	started func(pid int)
	// stopping, if set, is called before the program is ended.
	stopping func()
	grace    time.Duration
	hurry    <-chan struct{}
	// screen, if there is one, is the terminal of the program, whose output goes to out.
	screen *terminal.Terminal
	out    io.Writer
	// again is closed when Ctrl+C is typed in the program's terminal after everything was asked to end.
	again chan struct{}
}

// do starts the program and waits for it. It ends everything that the program started if
// ctx ends first, and reports whether it did. interrupt ends ctx.
func (s session) do(ctx context.Context, interrupt context.CancelCauseFunc) (stopped bool, err error) {
	if ctx.Err() != nil {
		return true, context.Cause(ctx)
	}
	g, err := newGroup(s.cmd)
	if err != nil {
		return false, err
	}
	defer g.close()
	ownSession(s.cmd)
	if err := s.cmd.Start(); err != nil {
		if _, dirErr := os.Stat(s.cmd.Dir); s.cmd.Dir != "" && dirErr != nil {
			err = dirErr
		}
		return false, err
	}
	if err := g.adopt(s.cmd.Process); err != nil {
		_ = s.cmd.Process.Kill()
		_ = s.cmd.Wait()
		return false, err
	}
	if s.guards != nil {
		_ = s.guards.Close()
	}
	if s.started != nil {
		s.started(s.cmd.Process.Pid)
	}
	if s.screen != nil {
		s.again = make(chan struct{})
		hasten := sync.OnceFunc(func() { close(s.again) })
		s.screen.Serve(s.out, func() {
			if ctx.Err() != nil {
				hasten()
			}
			interrupt(interruptedError{})
		})
	}
	var early atomic.Bool
	ended, swept := make(chan struct{}), make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(swept)
		early.Store(true)
		if s.stopping != nil {
			s.stopping()
		}
		s.end(ctx, g, ended)
	})
	err = s.cmd.Wait()
	close(ended)
	if s.screen != nil {
		s.screen.Close(pipeDelay)
	}
	if !stop() {
		<-swept
	}
	_ = g.kill()
	if s.lifeline != nil && !s.cmd.ProcessState.Exited() {
		s.afterGuard()
	}
	return early.Load(), err
}

// afterGuard makes sure that nothing is left after the guard was killed. It lets the inner
// guard do that first, which finds more.
func (s session) afterGuard() {
	for deadline := time.Now().Add(4 * shortGrace); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		found := family.Marked(Marker + "=" + s.id)
		for _, p := range found {
			_ = p.Release()
		}
		if len(found) == 0 {
			return
		}
	}
	killMarked(s.id)
}

// end ends the program and everything that it started.
func (s session) end(ctx context.Context, g *group, ended <-chan struct{}) {
	if s.lifeline != nil {
		select {
		case <-s.hurry:
		case <-s.again:
		default:
			ask := AskProgram
			if interrupted(ctx) {
				ask = AskedProgram
			}
			_, _ = s.lifeline.Write([]byte{ask})
			if s.await(ended, s.grace+guardGrace) { // the guard knows the grace, too
				return
			}
		}
		_ = s.lifeline.Close()
		s.hurry, s.again = nil, nil
		if s.await(ended, guardGrace) {
			return
		}
	}
	// Before they lose their parents, by which they are known.
	relatives := family.Descendants(s.cmd.Process.Pid)
	if g.ask() {
		s.await(ended, s.grace)
	}
	_ = g.kill()
	for _, p := range relatives {
		_ = p.Kill()
		_ = p.Release()
	}
	killMarked(s.id)
}

// await waits until the program has ended, for at most a time, and reports whether it has.
func (s session) await(ended <-chan struct{}, maximum time.Duration) bool {
	select {
	case <-ended:
		return true
	case <-s.hurry:
	case <-s.again:
	case <-time.After(maximum):
	}
	return false
}

// killMarked kills every process with the [Marker] of a run, until there are none: while
// it looks, they may be starting others.
func killMarked(id string) {
	for range 20 {
		found := family.Marked(Marker + "=" + id)
		if len(found) == 0 {
			return
		}
		for _, p := range found {
			_ = p.Kill()
			_ = p.Release()
		}
	}
}
