package copse_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/copse-dev/copse/internal/test/built"
	"github.com/copse-dev/copse/internal/test/need"
)

// terminal opens a pseudo-terminal: what a person types into, and what the program reads.
func terminal(t *testing.T) (person, program *os.File) {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		need.Skip(t, "this system has no pseudo-terminals: "+err.Error())
	}
	t.Cleanup(func() { _ = person.Close() })
	fd := int(person.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = program.Close() })
	return person, program
}

// Who starts a server by hand is told what it waits for; a client's log is not.
func TestServersTellAPersonWhatTheyAreFor(t *testing.T) {
	t.Parallel()
	bin := built.Programs(t)
	for _, argv := range [][]string{{"copse", "mcp", "serve"}, {"tic", "mcp", "serve"}, {"twig-mcp"}} {
		run := func(stdin *os.File) string {
			t.Helper()
			cmd := exec.CommandContext(t.Context(), filepath.Join(bin, argv[0]), argv[1:]...)
			var stderr bytes.Buffer
			cmd.Dir, cmd.Stdin, cmd.Stderr = t.TempDir(), stdin, &stderr
			if err := cmd.Run(); err != nil {
				t.Errorf("%v: %v", argv, err)
			}
			return stderr.String()
		}
		person, program := terminal(t)
		if _, err := person.WriteString("\x04"); err != nil { // the end of the input
			t.Fatal(err)
		}
		if got := run(program); !strings.Contains(got, "To register it: ") || !strings.Contains(got, "Ctrl-D") {
			t.Errorf("%v says at a terminal: %q", argv, got)
		}
		nothing, err := os.Open(os.DevNull)
		if err != nil {
			t.Fatal(err)
		}
		if got := run(nothing); got != "" {
			t.Errorf("%v says in a client's log: %q", argv, got)
		}
		_ = nothing.Close()
	}
}

// Adopt applies its proposals after a yes, and only then.
func TestAdoptAsksAPerson(t *testing.T) {
	t.Parallel()
	bin := built.Programs(t)
	for answer, written := range map[string]bool{"y": true, "n": false, "": false} {
		dir, env := repository(t)
		state := filepath.Join(dir, ".twig", "state.json")
		if err := os.Remove(state); err != nil {
			t.Fatal(err)
		}
		person, program := terminal(t)
		if _, err := person.WriteString(answer + "\n"); err != nil {
			t.Fatal(err)
		}
		var stdout, stderr bytes.Buffer
		cmd := exec.CommandContext(t.Context(), filepath.Join(bin, "copse"), "branch", "adopt", "--offline")
		cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = dir, env, program, &stdout, &stderr
		if err := cmd.Run(); err != nil {
			t.Fatalf("%v\n%s", err, &stderr)
		}
		if !strings.Contains(stdout.String(), "feature/login") || !strings.Contains(stderr.String(), "Apply these proposals? [y/N]") {
			t.Errorf("asked %q about %q", &stderr, &stdout)
		}
		text, err := os.ReadFile(state)
		if has := strings.Contains(string(text), "feature/login"); has != written {
			t.Errorf("after %q the state is %q, %v", answer, text, err)
		}
	}
}
