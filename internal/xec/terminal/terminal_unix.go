//go:build unix

package terminal

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// Terminal is a pseudo-terminal of one program. Close it after use.
type Terminal struct {
	person *Person
	own    unix.Termios // of the person's terminal, before Serve

	master, program *os.File
	// wake and woken are a pipe that ends a wait for keys. The end of the other one ends the copying.
	wake, woken, end, ended *os.File
	changes                 chan os.Signal
	continued               chan struct{} // has room for one
	keys                    sync.WaitGroup
	copied                  chan struct{} // nil before Serve

	over   atomic.Bool // no key is read
	silent atomic.Bool // nothing is printed
}

func usable(in, out *os.File) bool {
	_, err := settings(out)
	return err == nil && foreground(in)
}

// foreground reports whether this process is in the foreground of a terminal.
func foreground(in *os.File) bool {
	group, err := unix.IoctlGetInt(int(in.Fd()), unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}

// Open makes a terminal for a program.
func (p *Person) Open() (*Terminal, error) {
	own, err := settings(p.in)
	if err != nil {
		return nil, err
	}
	master, program, err := pty.Open()
	if err != nil {
		return nil, err
	}
	t := &Terminal{person: p, own: own, master: master, program: program, continued: make(chan struct{}, 1)}
	for _, step := range []func() error{
		func() (err error) { t.woken, t.wake, err = os.Pipe(); return },
		func() (err error) { t.ended, t.end, err = os.Pipe(); return },
		func() error { return unix.SetNonblock(int(master.Fd()), true) },
		func() error { return set(program, own) },
	} {
		if err := step(); err != nil {
			t.close()
			return nil, err
		}
	}
	for _, f := range []*os.File{p.in, master, t.woken, t.ended} {
		if f.Fd() >= unix.FD_SETSIZE {
			t.close()
			return nil, fmt.Errorf("more than %d files are open", unix.FD_SETSIZE)
		}
	}
	t.resize()
	return t, nil
}

// Program returns the file that is the program's standard input, output, and error.
func (t *Terminal) Program() *os.File { return t.program }

// Serve begins to copy, after the program has started: what it prints to out, until Close returns, and
// what the person types to the program. It calls interrupt before each interrupt of programs that read
// lines.
func (t *Terminal) Serve(out io.Writer, interrupt func()) {
	_ = t.program.Close() // the program has the last copy, whose end ends the output
	t.copied = make(chan struct{})
	t.changes = make(chan os.Signal, 1)
	signal.Notify(t.changes, syscall.SIGWINCH, syscall.SIGCONT)
	in := t.attend() // before the person sees a question
	go t.show(out)
	t.keys.Go(func() { t.pass(in, interrupt) })
	go t.follow()
}

// follow adapts to signals.
func (t *Terminal) follow() {
	for s := range t.changes {
		if s == syscall.SIGCONT {
			select {
			case t.continued <- struct{}{}:
			default:
			}
		}
		t.resize()
		t.rouse()
	}
}

// Close ends the copying, once the program has ended. It waits at most a time for the rest of the output.
func (t *Terminal) Close(maximum time.Duration) {
	if t.over.Swap(true) {
		return
	}
	if t.copied == nil {
		t.close()
		return
	}
	t.rouse()
	t.keys.Wait() // what is typed from now on is for the person's shell
	signal.Stop(t.changes)
	close(t.changes)
	done := t.await(maximum)
	t.silent.Store(true)
	_ = t.end.Close()
	Restore(t.person.in, t.State())
	if done || t.await(time.Second) { // unless the person's terminal has stopped the output
		t.close()
	}
}

// await waits until the output is copied, and reports whether it is.
func (t *Terminal) await(maximum time.Duration) bool {
	select {
	case <-t.copied:
		return true
	case <-time.After(maximum):
		return false
	}
}

func (t *Terminal) close() {
	for _, f := range []*os.File{t.master, t.program, t.wake, t.woken, t.end, t.ended} {
		if f != nil {
			_ = f.Close()
		}
	}
}

// rouse ends a wait for keys.
func (t *Terminal) rouse() { _, _ = t.wake.Write([]byte{0}) }

// resize gives the program's terminal the size of the person's.
func (t *Terminal) resize() {
	if size, err := unix.IoctlGetWinsize(int(t.person.out.Fd()), unix.TIOCGWINSZ); err == nil {
		_ = unix.IoctlSetWinsize(int(t.master.Fd()), unix.TIOCSWINSZ, size)
	}
}

// show copies what the program prints.
func (t *Terminal) show(out io.Writer) {
	defer close(t.copied)
	for buf := make([]byte, 32<<10); ; {
		n, err := unix.Read(int(t.master.Fd()), buf)
		switch {
		case t.silent.Load():
			return
		case n > 0:
			_, _ = out.Write(buf[:n])
		case errors.Is(err, unix.EAGAIN):
			_, _ = readable(t.master, t.ended)
		case !errors.Is(err, unix.EINTR):
			return // nobody can print any longer
		}
	}
}

// pass copies what the person types: in is what attend has returned.
func (t *Terminal) pass(in *os.File, interrupt func()) {
	for buf := make([]byte, 1024); ; {
		typed, roused := readable(in, t.woken)
		switch {
		case t.over.Load():
			return
		case roused:
			_, _ = unix.Read(int(t.woken.Fd()), buf)
			in = t.attend()
		case typed:
			n, err := unix.Read(int(in.Fd()), buf)
			switch {
			case n > 0 && t.give(buf[:n], interrupt):
				in = t.attend() // it was suspended
			case n <= 0 && !errors.Is(err, unix.EINTR) && !errors.Is(err, unix.EAGAIN):
				in = nil // the person's terminal is closed
			}
		}
	}
}

// attend makes the person's terminal pass each key on, and returns it; nil if this process is in the
// background, where the keys are another process's.
func (t *Terminal) attend() *os.File {
	if !foreground(t.person.in) || set(t.person.in, raw(t.own)) != nil {
		return nil
	}
	return t.person.in
}

// readable waits until one of two files can be read, and reports which. The first one can be nil.
func readable(a, b *os.File) (first, second bool) {
	var ready unix.FdSet
	ready.Set(int(b.Fd()))
	most := int(b.Fd())
	if a != nil {
		ready.Set(int(a.Fd()))
		most = max(most, int(a.Fd()))
	}
	if _, err := unix.Select(most+1, &ready, nil, nil, nil); err != nil {
		return false, false // a signal
	}
	return a != nil && ready.IsSet(int(a.Fd())), ready.IsSet(int(b.Fd()))
}

// give passes keys on. It reports whether it has suspended this process in between.
func (t *Terminal) give(keys []byte, interrupt func()) (suspended bool) {
	now, err := settings(t.master)
	if err != nil {
		return false
	}
	if i := find(keys, sends(now, unix.VSUSP)); i >= 0 {
		t.give(keys[:i], interrupt)
		t.suspend()
		t.give(keys[i+1:], interrupt)
		return true
	}
	if now.Lflag&unix.ICANON != 0 && find(keys, sends(now, unix.VINTR)) >= 0 {
		interrupt()
	}
	t.write(keys)
	return false
}

// suspend suspends this process and the rest of its group, and returns when they continue.
func (t *Terminal) suspend() {
	select {
	case <-t.continued: // of an earlier time
	default:
	}
	Restore(t.person.in, t.State())
	_ = unix.Kill(0, unix.SIGTSTP)
	select { // the signal stops another thread first
	case <-t.continued:
	case <-time.After(time.Second): // no shell can continue this process, so the system has not stopped it
	}
}

// write writes keys to the program's terminal, unless that is full: a program that reads nothing must
// not keep Ctrl+C from being seen.
func (t *Terminal) write(keys []byte) {
	for len(keys) > 0 {
		n, err := unix.Write(int(t.master.Fd()), keys)
		switch {
		case n > 0:
			keys = keys[n:]
		case errors.Is(err, unix.EINTR):
		case !errors.Is(err, unix.EAGAIN) || !t.writable():
			return
		}
	}
}

// writable waits a moment until the program's terminal takes more keys.
func (t *Terminal) writable() bool {
	var ready unix.FdSet
	ready.Set(int(t.master.Fd()))
	n, err := unix.Select(int(t.master.Fd())+1, nil, &ready, nil, &unix.Timeval{Usec: 100_000})
	return n > 0 && err == nil
}
