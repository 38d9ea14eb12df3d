package copse_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/copse-dev/copse/internal/test/built"
	"github.com/copse-dev/copse/internal/test/need"
	"github.com/copse-dev/copse/internal/xec"
	"github.com/copse-dev/copse/internal/xec/family"
)

// asking is a justfile whose tasks need a terminal.
const asking = `ask:
  @stty size; read -p "name? " n; echo "hello $n" >/dev/tty; test -t 0 && test -t 1 && test -t 2

large:
  @seq 1 20000

size:
  @echo begun; until [ "$(stty size)" = "50 120" ]; do sleep 0.01; done; stty size

keys:
  @stty raw -echo; echo begun; head -c 1 | od -An -tx1; exit 7

clean:
  #!/usr/bin/env bash
  trap 'echo int >>ints; exit 1' INT; trap 'sleep 0.2; echo cleaned' EXIT
  echo $$ >pid; sleep 300 & echo begun; wait

ignore:
  #!/usr/bin/env bash
  trap 'printf "still here"' INT
  echo $$ >pid; mkfifo wait; exec 3<>wait; echo begun; while :; do read -u 3; done
`

// desk is a person's terminal in which a program runs as a shell starts it: in the foreground of a
// session.
type desk struct {
	*session
	program *os.File
	dir     string
	before  unix.Termios
	prompt  bool // the terminal must be restored before a shell's next prompt
}

func newDesk(t *testing.T, argv ...string) *desk {
	t.Helper()
	for _, program := range []string{"just", "bash", "stty"} {
		if _, err := xec.Env(os.Environ()).LookPath(program); err != nil {
			need.Skip(t, program+" is not installed")
		}
	}
	bin := built.Programs(t)
	dir, env := repository(t)
	if err := os.WriteFile(filepath.Join(dir, "justfile"), []byte("set shell := [\"bash\", \"-c\"]\n"+asking), 0o600); err != nil {
		t.Fatal(err)
	}
	person, program := terminal(t)
	if err := unix.IoctlSetWinsize(int(person.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 40, Col: 100}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = dir, slices.Concat(env, []string{"TERM=xterm", "PATH=" + bin + ":" + os.Getenv("PATH")})
	cmd.Stdin, cmd.Stdout, cmd.Stderr = program, program, program
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if argv[0] == "copse" {
		cmd.Path, cmd.Err = filepath.Join(bin, "copse"), nil
	}
	d := &desk{session: &session{t: t, person: person, cmd: cmd}, program: program, dir: dir}
	d.before = d.settings()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return d
}

func (d *desk) settings() unix.Termios {
	d.t.Helper()
	s, err := unix.IoctlGetTermios(int(d.program.Fd()), unix.TCGETS)
	if err != nil {
		d.t.Fatal(err)
	}
	return *s
}

// shows waits until the terminal shows a text.
func (d *desk) shows(text string) {
	d.t.Helper()
	buf := make([]byte, 4096)
	for !strings.Contains(d.screen.String(), text) {
		n, err := d.person.Read(buf)
		d.screen.Write(buf[:n])
		if err != nil {
			d.t.Fatalf("the terminal shows %q, not %q: %v", &d.screen, text, err)
		}
	}
}

// presses types keys.
func (d *desk) presses(keys string) {
	d.t.Helper()
	if _, err := d.person.WriteString(keys); err != nil {
		d.t.Fatal(err)
	}
}

// panics makes the program panic while its guard cannot run: the terminal must be restored before a shell
// can notice that the program has ended.
func (d *desk) panics(s syscall.Signal) {
	d.t.Helper()
	for _, p := range family.Descendants(d.cmd.Process.Pid) {
		if err := p.Signal(syscall.SIGSTOP); err != nil {
			d.t.Error(err)
		}
		continues := time.AfterFunc(300*time.Millisecond, func() {
			_ = p.Signal(syscall.SIGCONT)
			_ = p.Release()
		})
		d.t.Cleanup(func() { continues.Stop() })
	}
	if err := d.cmd.Process.Signal(s); err != nil {
		d.t.Error(err)
	}
	d.prompt = true
}

// over waits for the program, and returns its exit code and what the terminal shows. The terminal is as
// it was.
func (d *desk) over() (int, string) {
	d.t.Helper()
	shown := make(chan struct{})
	go func() { // so the program can print
		defer close(shown)
		buf := make([]byte, 4096)
		for {
			n, err := d.person.Read(buf)
			d.screen.Write(buf[:n])
			if err != nil {
				return
			}
		}
	}()
	err := d.cmd.Wait()
	if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited {
		d.t.Error(err)
	}
	for deadline := time.Now().Add(time.Second); !d.prompt && d.settings() != d.before && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond) // a guard does it
	}
	if now := d.settings(); now != d.before {
		d.t.Errorf("the terminal's settings were %+v and are %+v", d.before, now)
	}
	_ = d.program.Close()
	<-shown
	return d.cmd.ProcessState.ExitCode(), strings.ReplaceAll(d.screen.String(), "\r\n", "\n")
}

// A recipe that a person starts in a terminal can ask, has the terminal's size, and gets single keys.
func TestTaskAsksAPerson(t *testing.T) {
	t.Parallel()
	for task, c := range map[string]struct {
		do   func(d *desk)
		code int
		want string
	}{
		"ask": {func(d *desk) {
			d.shows("name? ")
			d.presses("ada\n")
		}, 0, "40 100\nname? ada\nhello ada\n"},
		"large": {func(*desk) {}, 0, "\n19999\n20000\n"},
		"size": {func(d *desk) {
			d.shows("begun")
			if err := unix.IoctlSetWinsize(int(d.person.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 50, Col: 120}); err != nil {
				d.t.Error(err)
			}
		}, 0, "begun\n50 120\n"},
		"keys": {func(d *desk) {
			d.shows("begun")
			d.presses("\x03") // the program's, which reads single keys
		}, 7, "03"},
	} {
		t.Run(task, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, "copse", "task", "run", task)
			c.do(d)
			if code, text := d.over(); code != c.code || !strings.Contains(text, c.want) {
				t.Errorf("got %d, %q; want %d, %q", code, text, c.code, c.want)
			}
			show := exec.CommandContext(t.Context(), filepath.Join(built.Programs(t), "copse"), "task", "show", "--json")
			show.Dir, show.Env = d.cmd.Dir, d.cmd.Env
			if report, err := show.Output(); err != nil || bytes.Contains(report, []byte(`\r`)) || !bytes.Contains(report, []byte(`"`+task+`"`)) {
				t.Errorf("recorded: %s, %v", report, err)
			}
		})
	}
}

// However a task in a terminal ends, nothing of it is left, and the terminal is as it was.
func TestTaskInATerminalEnds(t *testing.T) {
	t.Parallel()
	signals := func(s syscall.Signal) func(d *desk) {
		return func(d *desk) {
			if err := d.cmd.Process.Signal(s); err != nil {
				d.t.Error(err)
			}
		}
	}
	for name, c := range map[string]struct {
		task string
		end  func(d *desk)
		code int
		want string
	}{
		"Ctrl+C": {"clean", func(d *desk) { d.presses("\x03") }, 1, "copse task run: clean: canceled"},
		"Ctrl+C twice": {"ignore", func(d *desk) {
			d.presses("\x03")
			d.shows("still here")
			d.presses("\x03")
		}, 1, "\ncopse task run: ignore: canceled"},
		"ended":    {"clean", signals(syscall.SIGTERM), 1, "cleaned"},
		"hung up":  {"clean", signals(syscall.SIGHUP), 1, "cleaned"},
		"killed":   {"ignore", signals(syscall.SIGKILL), -1, "begun"},
		"panicked": {"ignore", func(d *desk) { d.panics(syscall.SIGQUIT) }, 2, "begun"},
		"aborted":  {"ignore", func(d *desk) { d.panics(syscall.SIGABRT) }, 2, "begun"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, "copse", "task", "run", c.task)
			d.shows("begun")
			begun := time.Now()
			c.end(d)
			if code, text := d.over(); code != c.code || !strings.Contains(text, c.want) {
				t.Errorf("got %d, %q; want %d, %q", code, text, c.code, c.want)
			}
			waitUntilGone(t, d.dir, "pid")
			if took := time.Since(begun); took > 4*time.Second {
				t.Errorf("it took %s", took)
			}
			if ints, _ := os.ReadFile(filepath.Join(d.dir, "ints")); name == "Ctrl+C" && string(ints) != "int\n" {
				t.Errorf("the recipe was interrupted %d times", bytes.Count(ints, []byte("int")))
			}
		})
	}
}

// Ctrl+Z gives the terminal back to the shell, and a task in the background leaves it alone.
func TestTaskIsSuspended(t *testing.T) {
	t.Parallel()
	d := newDesk(t, "bash", "-c", `set -m
copse task run ask
echo suspended $?; stty -a | grep -c -- " icanon"
copse task run large >/dev/null & wait $!; echo background $?
read -p "shell? " x; echo "shell $x"
fg %1; echo "end $?"`)
	d.shows("name? ")
	d.presses("a\x1a")
	d.shows("shell? ")
	d.presses("bob\n")
	d.shows("shell bob")
	d.presses("da\n")
	code, text := d.over()
	for _, want := range []string{"suspended 148\n1\n", "background 0\n", "shell bob\n", "hello ada\n", "end 0\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("got %d, %q, without %q", code, text, want)
		}
	}
}
