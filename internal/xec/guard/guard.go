// Package guard runs a program so that nothing it starts outlives the caller, however the
// caller ends: normally, by a signal that it handles, or by kill -9.
//
// Two processes of the same binary, called [Name], are between the caller and the program:
//
//	caller ──pipe──► outer guard ──pipe──► inner guard ──► program ──► …
//
// Each guard ends everything below it when its pipe closes, which the kernel does when the
// process at the other end ends for any reason. On Linux, a guard is the parent of every
// process below it that loses its own parent, so it finds even a process that starts a new
// session, forks twice, or clears its environment. If the inner guard is killed,
// its processes become children of the outer one, which ends them. If the outer guard is
// killed, the pipe of the inner one closes. If both are killed at once, the kernel kills
// the program itself, and the caller finds the rest by a variable in their environment
// (see [xec.Stream]).
//
// A byte in the pipe asks everything to end: every process below gets SIGINT, as from Ctrl+C. SIGTERM
// would reach recipes twice, because just passes it on, and the second one ends bash in its trap. When
// the program has ended, or at the end of the grace that the caller chooses ([xec.Command.Grace]),
// the rest gets SIGTERM, and then SIGKILL until nothing is left. A guard that receives SIGTERM does
// the same, so another process of the user can stop the program without its caller's help. A second
// signal, or the pipe's end, ends the grace at once. If the pipe closes without a byte, nobody
// waits: SIGTERM, a quarter of a second, then SIGKILL.
//
// A program with a terminal ([xec.Command.Person]) has it as its controlling terminal, so its own session
// and the kernel pass Ctrl+C on. The byte 1 says that this has happened, and starts only the grace. If the
// caller is killed or panics, the outer guard returns the person's terminal to its settings. The text of a
// panic comes through the pipe, and on Linux the caller waits until the guard has read it, so the terminal
// is restored before a shell asks for the next command.
//
// When the program ends normally, the rest of its process group is killed. Processes that
// have moved to another session continue: they were meant to stay.
//
// The first statement of a main function is [Main]; a process started by [Wrap] never
// returns from it. macOS hands orphans to launchd, so the guards look for new processes
// four times a second there; one that is orphaned between two looks escapes. Windows needs
// no guard: the kernel ends a job's processes when the job's last handle closes.
package guard

import (
	"os"
	"runtime"
	"time"

	"github.com/copse-dev/copse/internal/xec"
)

// Name is what a guard is called in lists of processes. It does not contain the name of
// the program, so that "pkill -f copse" ends servers, and their guards then end the tasks.
const Name = "task-guard"

// The two guards.
const (
	outer = "outer"
	inner = "inner"
)

// Wrap returns c with guards, which run as the program self. It is c itself if self is ""
// or the system needs no guards.
func Wrap(c xec.Command, self string) xec.Command {
	if self == "" || runtime.GOOS == "windows" {
		return c
	}
	c.Guard = &xec.Guard{Path: self, Argv: []string{Name, outer}}
	return c
}

// Once returns c with one guard, as Wrap does with two. It is enough for a program of which only the caller is
// killed, such as git: it costs half as much.
func Once(c xec.Command, self string) xec.Command {
	if self == "" || runtime.GOOS == "windows" {
		return c
	}
	c.Guard = &xec.Guard{Path: self, Argv: []string{Name, inner}}
	return c
}

// Main runs this process as a guard if it was started as one, and returns otherwise.
func Main() {
	if len(os.Args) > 5 && os.Args[0] == Name && (os.Args[1] == outer || os.Args[1] == inner) {
		patience, _ := time.ParseDuration(os.Args[2])
		os.Exit(run(os.Args[1], patience, os.Args[3], os.Args[4], os.Args[5:])) //nolint:forbidigo // a guard is a program of its own
	}
}
