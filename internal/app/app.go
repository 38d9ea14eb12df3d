// Package app is the common part of the programs: their environment, as one value that tests
// can create, their exit codes, their logs, and their help.
//
// A main function is os.Exit(app.Main(name.Run)); a program is a function from a context and
// an [Env] to an exit code. Programs write results and protocol to Env.Stdout and everything
// else to Env.Stderr. They read nothing of the process except their Env.
package app

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"os/user"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/term"

	"github.com/copse-dev/copse/internal/hostenv"
	"github.com/copse-dev/copse/internal/secret"
	"github.com/copse-dev/copse/internal/stackroom"
)

// Exit codes, the same for every program.
const (
	// OK is success.
	OK = 0
	// Failed means that the command failed; stderr says why.
	Failed = 1
	// Usage means an invalid command line.
	Usage = 2
)

// Env is everything that a program gets from outside.
type Env struct {
	// Args are the arguments without the program's name.
	Args   []string
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer
	// Environ is the environment in the form KEY=value; for a key that occurs twice, the last one
	// is used. The PATH has no directories of the project of Dir.
	Environ []string
	// inherited is the environment with these directories, nil if there are none.
	inherited []string
	// Dir is the current directory, absolute.
	Dir string
	// Self starts this program again, even after its file was replaced: on Linux it is a link of
	// the kernel. It is "" if the program cannot start itself.
	Self string
	// Executable is the path of the program's file for the configuration of clients; "" if it is
	// unknown.
	Executable string
	// Hostname is the name of this machine; "" if it is unknown.
	Hostname string
	// Login returns the name of the account of this process, "" if it is unknown. Nil: unknown.
	Login func() string
	// GOOS selects the locations of files.
	GOOS string
	Now  func() time.Time
	// Ready makes signals end the program's context. Execute calls it before it runs a command. A
	// server of one client ([ServesClient]) calls it before its first work. Nil: signals already do, or
	// nobody sends any.
	Ready func()
	// Linger sets how long the program may take to return after the first signal. Nil: nobody waits.
	Linger func(time.Duration)
	// Patience multiplies how long an answer waits for what it can leave out; 0 is 1. Tests are patient, so that
	// a busy machine does not change what they see.
	Patience int
	// Secrets are the texts that Execute removes from Stdout and Stderr. Code that finds a login
	// adds its secret. Nil removes nothing.
	Secrets *secret.Set
}

// EmptyEnv returns an environment without arguments, variables, input, and output, for a program
// that is only inspected.
func EmptyEnv() Env {
	return Env{Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard, Dir: os.TempDir(), GOOS: "linux", Now: time.Now}
}

// Interactive reports whether standard input is a terminal.
func (e Env) Interactive() bool {
	file, ok := e.Stdin.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// ExplainStdio explains a server on standard input to a person who started it in a terminal,
// with the command that registers it with a client.
func (e Env) ExplainStdio(register string) {
	if e.Interactive() {
		fmt.Fprintf(e.Stderr, "This server waits for requests from an MCP client on standard input. To register it: %s\nTo stop it, press Ctrl-D.\n", register)
	}
}

// Getenv returns the value of a variable, "" if it is not set.
func (e Env) Getenv(key string) string {
	for _, v := range slices.Backward(e.Environ) {
		k, v, _ := strings.Cut(v, "=")
		if k == key || e.GOOS == "windows" && strings.EqualFold(k, key) {
			return v
		}
	}
	return ""
}

// User returns the name of the user: that of the environment, or else of the account; "a user" if
// neither is known.
func (e Env) User() string {
	if name := cmp.Or(e.Getenv("USER"), e.Getenv("LOGNAME"), e.Getenv("USERNAME")); name != "" {
		return name
	}
	if e.Login != nil {
		if name := e.Login(); name != "" {
			return name
		}
	}
	return "a user"
}

// Home returns the user's home directory, "" if the environment names none.
func (e Env) Home() string {
	switch e.GOOS {
	case "windows":
		return e.Getenv("USERPROFILE")
	case "plan9":
		return e.Getenv("home")
	}
	return e.Getenv("HOME")
}

// A server's heap is a few MiB, so the collector would run after every few MiB of garbage.
const (
	// ballastSize counts as a part of the heap. Nothing touches the ballast, so it takes no memory.
	// It saves a busy server a third of its time.
	ballastSize = 8 << 20
	// firstCollection is the percentage that lets the heap grow to 10 MiB before the first
	// collection, which is more than a short run needs.
	firstCollection = 250
)

// spareCollector makes the collector run less often, and not at all during the start. It allocates
// the ballast after the first collection, because the allocation would trigger one. It returns a
// value that keeps the ballast alive.
func spareCollector() *atomic.Pointer[[ballastSize]byte] {
	ballast := new(atomic.Pointer[[ballastSize]byte])
	percent := debug.SetGCPercent(firstCollection)
	if percent < 0 { // the user has turned it off
		debug.SetGCPercent(percent)
		return ballast
	}
	runtime.AddCleanup(new([64]byte), func(percent int) {
		ballast.Store(new([ballastSize]byte))
		debug.SetGCPercent(percent)
	}, percent)
	return ballast
}

// self returns the path with which to start this program again. On Linux, it still names this file after an update
// replaces it.
func self(executable string) string {
	if runtime.GOOS == "linux" && executable != "" { // read from this link
		return "/proc/self/exe"
	}
	return executable
}

// ServesClient reports whether arguments begin a server of one client. Until its first work, it has
// nothing to end, so it enables signals later: their three threads take a twentieth of its start.
func ServesClient(args []string) bool {
	return len(args) > 1 && args[0] == "mcp" && args[1] == "serve"
}

// listener has a context that a signal ends.
type listener struct {
	ctx  context.Context //nolint:containedctx // it says only whether a signal came
	stop context.CancelFunc
}

// Main runs a program in the environment of this process and returns its exit code. SIGINT,
// SIGTERM, and SIGHUP end the context. Main does not wait for a program that has not returned a
// second later, or after [Env.Linger], and a second signal kills it immediately.
func Main(run func(context.Context, Env) int) int {
	defer runtime.KeepAlive(spareCollector())
	dir, err := os.Getwd()
	if err != nil {
		// The directory was deleted. Programs that need one report it.
		dir = ""
	}
	env := Env{
		Args:   os.Args[1:],
		Stdin:  os.Stdin,
		Stdout: os.Stdout,
		Stderr: os.Stderr,
		Dir:    dir,
		GOOS:   runtime.GOOS,
		Now:    time.Now,
	}
	env.Inherit(hostenv.Resolve(os.Environ(), func(name string) { _ = os.Unsetenv(name) }))
	// Without a path, commands that print it report that.
	env.Executable, _ = os.Executable()
	env.Self = self(env.Executable)
	env.Hostname, _ = os.Hostname()
	env.Login = func() string {
		account, err := user.Current()
		if err != nil {
			return ""
		}
		return account.Username
	}
	ctx, end := context.WithCancelCause(context.Background())
	defer end(nil)
	signals := make(chan listener, 1)
	env.Ready = sync.OnceFunc(func() {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
		signals <- listener{ctx, stop}
	})
	var patience atomic.Int64
	patience.Store(int64(900 * time.Millisecond))
	env.Linger = func(d time.Duration) { patience.Store(int64(d)) }
	done := make(chan int, 1)
	go func() {
		stackroom.Grow()
		done <- run(ctx, env)
	}()
	if !ServesClient(env.Args) {
		env.Ready() // the runtime enables signals on three threads; the program is created meanwhile
	}
	var listening listener
	select {
	case code := <-done:
		return code
	case listening = <-signals:
	}
	defer listening.stop()
	select {
	case code := <-done:
		return code
	case <-listening.ctx.Done():
	}
	// From here on, a signal has its usual effect. The next one can follow as soon as the first takes effect.
	listening.stop()
	end(context.Cause(listening.ctx))
	select {
	case code := <-done:
		return code
	case <-time.After(time.Duration(patience.Load())):
		return Failed
	}
}
