//go:build unix

package guard

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"github.com/copse-dev/copse/internal/xec"
	"github.com/copse-dev/copse/internal/xec/family"
	"github.com/copse-dev/copse/internal/xec/terminal"
)

const (
	// shortGrace is how long processes may take to end that only the end of the caller asks to.
	shortGrace = 250 * time.Millisecond
	// patience is how long a guard continues to kill processes that do not end, because they are
	// another user's or wait for a device.
	patience = 5 * time.Second
	// lateTime is when a recipe is asked that the program started while it was asked itself.
	lateTime = 100 * time.Millisecond
	// cannotRun is the exit code if the program cannot be started, as shells have it.
	cannotRun = 126
	// cannotEnd is the exit code if the program does not end when it is killed.
	cannotEnd = 125
)

// guard is one of the two processes.
type guard struct {
	child  int // the inner guard or the program
	grace  time.Duration
	screen string           // the settings of the person's terminal; "" if the program has none
	asked  bool             // the program was asked to end
	late   <-chan time.Time // when what it started meanwhile is asked, too; nil if it had started all
	limit  <-chan time.Time // the end of its grace
	status syscall.WaitStatus
	ended  bool     // the child has ended
	alone  bool     // there is no child left, adopted ones included
	over   bool     // the guard has tried to end everything
	pipe   *os.File // the outer guard's end of the pipe to the inner one
	exits  chan os.Signal
	seen   tracker
}

// run starts the program, or the guard before it, waits for it, and returns its exit code.
// A program that a signal ended ends this process by the same signal.
func run(level string, grace time.Duration, screen, path string, argv []string) int {
	runtime.LockOSThread() // the kernel ends the program when the thread that started it ends
	name()
	adoptOrphans()
	_ = syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{})

	g := &guard{exits: make(chan os.Signal, 1), grace: grace, screen: screen}
	syscall.CloseOnExec(xec.PersonFile)
	signal.Notify(g.exits, syscall.SIGCHLD)
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT)
	asks := make(chan byte)
	restored := ""
	if level == outer {
		restored = screen
	}
	go listen(asks, restored)

	var err error
	if level == outer {
		err = g.startInner(path, argv)
	} else {
		g.child, err = g.start(path, argv)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "cannot run %s: %v\n", path, err)
		return cannotRun
	}
	for !g.over && !g.finished() {
		select {
		case <-g.exits:
			g.reap()
		case <-g.seen.next():
			g.seen.look()
		case how, ok := <-asks:
			if ok {
				g.ask(how)
			} else {
				g.end()
			}
		case <-stop:
			g.ask(xec.AskProgram)
		case <-g.late:
			for _, p := range family.Descendants(os.Getpid()) {
				if p.Pid != g.child {
					_ = p.Signal(syscall.SIGINT)
				}
				_ = p.Release()
			}
		case <-g.limit:
			g.asked = false // what ignores SIGINT gets SIGTERM
			g.end()
		}
	}
	switch {
	case !g.ended:
		return cannotEnd
	case g.pipe == nil:
		// The group's number stays taken while a member lives.
		_ = syscall.Kill(-g.child, syscall.SIGKILL)
	case !g.status.Exited():
		g.kill() // the inner guard was killed
	}
	if g.status.Signaled() {
		endBy(g.status.Signal())
	}
	return g.status.ExitStatus()
}

// listen passes on what the caller asks, and closes asks when the caller has ended. A panic of the caller
// begins with a byte that asks nothing, and the caller ends when the rest is read: listen restores the
// person's terminal in between, so a shell finds it as it was.
func listen(asks chan<- byte, screen string) {
	defer close(asks)
	one := make([]byte, 1)
	_, err := os.Stdin.Read(one)
	for ; err == nil && one[0] <= xec.AskedProgram; _, err = os.Stdin.Read(one) {
		asks <- one[0]
	}
	if screen != "" {
		terminal.Restore(os.NewFile(xec.PersonFile, ""), screen)
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// startInner starts the inner guard, in a group of its own: who kills this one's group
// leaves it to do its work.
func (g *guard) startInner(path string, argv []string) error {
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	defer r.Close()
	self, err := executable()
	if err != nil {
		return err
	}
	g.pipe = w
	g.child, err = fork(self, append([]string{Name, inner, g.grace.String(), g.screen, path}, argv...), r, &syscall.SysProcAttr{Setpgid: true})
	return err
}

// start starts the program in a session of its own.
func (g *guard) start(path string, argv []string) (int, error) {
	how := leader()
	if g.screen != "" {
		how.Setctty, how.Ctty = true, 0
		return fork(path, argv, os.Stdout, how)
	}
	null, err := os.Open(os.DevNull) //nolint:forbidigo // it never waits
	if err != nil {
		return 0, err
	}
	defer null.Close()
	return fork(path, argv, null, how)
}

func fork(path string, argv []string, stdin *os.File, how *syscall.SysProcAttr) (int, error) {
	//nolint:forbidigo // a guard was started with the environment of the program that it guards
	return syscall.ForkExec(path, argv, &syscall.ProcAttr{Env: os.Environ(), Files: []uintptr{stdin.Fd(), 1, 2}, Sys: how})
}

// reap notes which children have ended.
func (g *guard) reap() {
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, syscall.WNOHANG, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case errors.Is(err, syscall.ECHILD):
			g.alone = true
			return
		case err != nil || pid <= 0:
			g.alone = false
			return
		}
		if pid == g.child {
			g.ended, g.status = true, status
			if g.asked && g.pipe == nil {
				g.signal(syscall.SIGTERM) // what ignores SIGINT, as a shell's background jobs do
			}
		}
	}
}

// ask asks everything below this process to end. Who asks again does not wait.
func (g *guard) ask(how byte) {
	switch {
	case g.asked:
		g.end()
		return
	case g.pipe != nil:
		_, _ = g.pipe.Write([]byte{how})
	default:
		// A program without processes may be about to start one, which it expects to be asked like itself.
		if how == xec.AskProgram && g.signal(syscall.SIGINT) == 1 {
			g.late = time.After(lateTime)
		}
		g.limit = time.After(g.grace)
	}
	g.asked = true
}

// finished reports whether the program has ended, and all else that was asked to.
func (g *guard) finished() bool { return g.ended && (!g.asked || g.pipe != nil || g.gone()) }

// end ends everything below this process, and returns when it is gone.
func (g *guard) end() {
	g.over = true
	switch {
	case g.pipe != nil:
		_ = g.pipe.Close()
		g.await(patience+2*shortGrace, func() bool { return g.ended })
	case !g.asked:
		g.signal(syscall.SIGTERM)
		g.await(shortGrace, g.gone)
	}
	g.kill()
}

// kill kills everything below this process until nothing is left.
func (g *guard) kill() {
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		g.signal(syscall.SIGKILL)
		if g.await(5*time.Millisecond, g.gone) {
			return
		}
	}
}

// gone reports whether nothing is left.
func (g *guard) gone() bool { return g.alone && g.seen.gone() }

// signal signals everything below this process, and returns how many processes these are.
func (g *guard) signal(s syscall.Signal) int {
	g.seen.look()
	below := family.Descendants(os.Getpid())
	for _, p := range below {
		_ = p.Signal(s)
		_ = p.Release()
	}
	g.seen.signal(s)
	return len(below)
}

// await reaps until done, at most for a time, and reports whether it is done.
func (g *guard) await(maximum time.Duration, done func() bool) bool {
	limit := time.NewTimer(maximum)
	defer limit.Stop()
	for g.reap(); !done(); g.reap() {
		select {
		case <-g.exits:
		case <-limit.C:
			g.reap()
			return done()
		}
	}
	return true
}

// endBy ends this process by a signal. For one that makes Go print its goroutines, it exits as a shell does.
func endBy(s syscall.Signal) {
	switch s {
	case syscall.SIGSEGV, syscall.SIGBUS, syscall.SIGFPE, syscall.SIGILL, syscall.SIGABRT, syscall.SIGTRAP, syscall.SIGSYS, syscall.SIGQUIT:
		os.Exit(128 + int(s)) //nolint:forbidigo // a guard is a program of its own
	}
	signal.Reset(s)
	_ = syscall.Kill(os.Getpid(), s)
	time.Sleep(time.Second)
	os.Exit(128 + int(s)) //nolint:forbidigo // a guard is a program of its own
}
