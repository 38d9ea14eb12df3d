package copse_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/copse-dev/copse/internal/test/built"
)

// session is a program at a pseudo-terminal, and the person in front of it.
type session struct {
	t      *testing.T
	person *os.File
	cmd    *exec.Cmd
	// screen is what the terminal showed since the person typed last.
	screen bytes.Buffer
}

// sit starts copse at a terminal of 80 columns.
func sit(t *testing.T, dir string, env []string, args ...string) *session {
	t.Helper()
	return sitAt(t, 80, dir, env, args...)
}

// sitAt starts copse at a terminal of some columns.
func sitAt(t *testing.T, columns uint16, dir string, env []string, args ...string) *session {
	t.Helper()
	bin := t.TempDir()
	links(t, bin)
	person, program := terminal(t)
	if err := unix.IoctlSetWinsize(int(person.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 40, Col: columns}); err != nil {
		t.Fatal(err)
	}
	// A program that nobody answers is killed, which ends what the person reads.
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, filepath.Join(bin, "copse"), args...)
	cmd.Dir, cmd.Env = dir, slices.Concat(env, []string{"TERM=xterm"})
	cmd.Stdin, cmd.Stdout, cmd.Stderr = program, program, program
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = program.Close() // the program has the last copy
	return &session{t: t, person: person, cmd: cmd}
}

// until reads what the terminal shows until it ends with a text, and returns it.
func (s *session) until(end string) string {
	s.t.Helper()
	buf := make([]byte, 4096)
	for !strings.HasSuffix(s.screen.String(), end) {
		n, err := s.person.Read(buf)
		s.screen.Write(buf[:n])
		if err != nil {
			s.t.Fatalf("the terminal shows %q, not %q: %v", &s.screen, end, err)
		}
	}
	defer s.screen.Reset()
	return strings.ReplaceAll(s.screen.String(), "\r\n", "\n")
}

// types types a line.
func (s *session) types(line string) {
	s.t.Helper()
	if _, err := s.person.WriteString(line + "\n"); err != nil {
		s.t.Fatal(err)
	}
}

// rest returns what the terminal shows until the program ends, with success.
func (s *session) rest() string {
	s.t.Helper()
	text, err := s.end()
	if err != nil {
		s.t.Fatalf("%v: %s", err, text)
	}
	return text
}

// end returns what the terminal shows until the program ends, and how it ends.
func (s *session) end() (string, error) {
	s.t.Helper()
	buf := make([]byte, 4096)
	for {
		n, err := s.person.Read(buf)
		s.screen.Write(buf[:n])
		if err != nil { // Linux reports an error where nobody has the terminal any longer
			break
		}
	}
	err := s.cmd.Wait()
	return strings.ReplaceAll(s.screen.String(), "\r\n", "\n"), err
}

// beginner makes a repository without any state, and a home with the files of two clients.
func beginner(t *testing.T) (dir, home string, env []string) {
	t.Helper()
	dir, env = repository(t)
	if err := os.RemoveAll(filepath.Join(dir, ".twig")); err != nil {
		t.Fatal(err)
	}
	home = strings.TrimPrefix(env[0], "HOME=")
	for _, name := range []string{".claude.json", ".cursor/mcp.json"} {
		path := filepath.Join(home, filepath.FromSlash(name))
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		if err == nil {
			err = os.WriteFile(path, []byte("{}\n"), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir, home, env
}

// A person who only presses Enter gets branches and clients; an answer that is none is asked again;
// nothing changes before the summary is confirmed.
func TestInitAsksAPerson(t *testing.T) {
	t.Parallel()
	dir, home, env := beginner(t)
	s := sit(t, dir, env, "init")
	first := s.until("[Y/n] ")
	for _, want := range []string{"Press Enter for the default answer", "MCP clients found: Claude Code, Cursor. MCP clients not found: Claude Desktop", "Track the parents"} {
		if !strings.Contains(strings.Join(strings.Fields(first), " "), want) {
			t.Errorf("the first question is %q, without %q", first, want)
		}
	}
	s.types("")
	s.until("[y/N] ")
	s.types("perhaps")
	if again := s.until("[y/N] "); !strings.Contains(again, `"perhaps" is not an answer; answer with n, y`) || !strings.Contains(again, "Track work items") {
		t.Errorf("after a wrong answer: %q", again)
	}
	s.types("") // no items
	s.until("[y/N] ")
	s.types("") // no prompts
	s.until("[Y/n] ")
	s.types("") // Claude Code
	s.until("[Y/n] ")
	s.types("n") // Cursor
	summary := s.until("Continue? [Y/n] ")
	for _, want := range []string{"copse will create .twig/state.json, hidden from git.", "copse will add copse to Claude Code, in " + filepath.Join(home, ".claude.json")} {
		if !strings.Contains(strings.Join(strings.Fields(summary), " "), want) { // the terminal is narrow
			t.Errorf("the summary is %q, without %q", summary, want)
		}
	}
	if strings.Contains(summary, ".tic") || strings.Contains(summary, "Cursor") {
		t.Errorf("the summary names what was declined: %q", summary)
	}
	if _, err := os.Stat(filepath.Join(dir, ".twig")); err == nil {
		t.Error("something changed before the summary was confirmed")
	}
	s.types("")
	end := s.rest()
	if !strings.Contains(end, "copse branch adopt") || !strings.Contains(end, "copse mcp doctor") {
		t.Errorf("at the end: %q", end)
	}
	for path, want := range map[string]bool{
		filepath.Join(dir, ".twig", "state.json"): true, filepath.Join(dir, ".tic"): false, filepath.Join(dir, ".agent"): false,
	} {
		if _, err := os.Stat(path); (err == nil) != want {
			t.Errorf("%s: %v", path, err)
		}
	}
	for path, want := range map[string]bool{filepath.Join(home, ".claude.json"): true, filepath.Join(home, ".cursor", "mcp.json"): false} {
		if text, err := os.ReadFile(path); err != nil || strings.Contains(string(text), `"copse"`) != want {
			t.Errorf("%s: %s, %v", path, text, err)
		}
	}

	// A no to the summary, and the end of the input, change nothing.
	for _, answers := range [][]string{{"", "", "", "", "", "n"}, {"", "\x04"}} {
		dir, _, env := beginner(t)
		s := sit(t, dir, env, "init")
		for _, a := range answers {
			s.until("] ")
			s.types(a)
		}
		if end := s.rest(); !strings.Contains(end, "No changes made.") {
			t.Errorf("after %q: %q", answers, end)
		}
		if _, err := os.Stat(filepath.Join(dir, ".twig")); err == nil {
			t.Errorf("after %q something changed", answers)
		}
	}
}

// Questions and results fit a narrow terminal, and keep the next step.
func TestInitFitsANarrowTerminal(t *testing.T) {
	t.Parallel()
	const columns = 50
	dir, _, env := beginner(t)
	s := sitAt(t, columns, dir, env, "init")
	var screen strings.Builder
	for range 6 {
		screen.WriteString(s.until("] "))
		s.types("")
	}
	screen.WriteString(s.rest())
	for line := range strings.Lines(screen.String()) {
		// A path is one word, which a person copies.
		if line = strings.TrimRight(line, " \n"); len(line) > columns && strings.Contains(strings.TrimSpace(line), " ") {
			t.Errorf("wider than the terminal: %q", line)
		}
	}
	if text := strings.Join(strings.Fields(screen.String()), " "); !strings.Contains(text, "done branches the default trunk is main; next: copse branch adopt") {
		t.Errorf("at the end: %q", &screen)
	}
}

// A person who interrupts a question learns that nothing changed.
func TestInterruptedQuestions(t *testing.T) {
	t.Parallel()
	for answered := range 6 {
		dir, home, env := beginner(t)
		s := sit(t, dir, env, "init")
		for range answered {
			s.until("] ")
			s.types("")
		}
		s.until("] ")
		if err := s.cmd.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		text, err := s.end()
		if s.cmd.ProcessState.ExitCode() != 1 || !strings.HasSuffix(text, "\ncopse init: interrupted; no changes made\n") {
			t.Errorf("after %d answers: %q, %v", answered, text, err)
		}
		if text, err := os.ReadFile(filepath.Join(home, ".claude.json")); string(text) != "{}\n" {
			t.Errorf("after %d answers: %s, %v", answered, text, err)
		}
		if _, err := os.Stat(filepath.Join(dir, ".twig")); err == nil {
			t.Errorf("after %d answers, something changed", answered)
		}
	}
}

// A person who interrupts the last question of "item init" learns what changed, and one who declines
// learns how to change their mind.
func TestMergeDriverDeclined(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ answer, end string }{
		{"\n", "The merge driver is not registered. To register it later, run `copse item init --merge-driver`."},
		{"", "copse item init: interrupted; .tic exists, and git's configuration did not change"},
	} {
		dir, _, env := beginner(t)
		s := sit(t, dir, env, "item", "init")
		s.until("[y/N] ")
		var err error
		if test.answer == "" {
			err = s.cmd.Process.Signal(os.Interrupt)
		} else {
			_, err = s.person.WriteString(test.answer)
		}
		if err != nil {
			t.Fatal(err)
		}
		text, _ := s.end()
		if text = strings.Join(strings.Fields(text), " "); !strings.HasSuffix(text, test.end) || strings.Contains(text, "o changes made") {
			t.Errorf("after %q: %q, want %q at the end", test.answer, text, test.end)
		}
		if _, err := os.Stat(filepath.Join(dir, ".tic")); err != nil {
			t.Error(err)
		}
	}
}

// At a terminal, results have no line that the terminal must break, and are complete.
func TestResultsFitANarrowTerminal(t *testing.T) {
	t.Parallel()
	const columns = 50
	dir, _, env := beginner(t)
	sit(t, dir, env, "item", "init", "--json").rest()
	for command, want := range map[string]string{
		"context": "returns only what changed.", "version": "built by ", "item config get": "statuses backlog,todo,in-progress,review,done",
	} {
		text := sitAt(t, columns, dir, env, strings.Fields(command)...).rest()
		for line := range strings.Lines(text) {
			if line = strings.TrimRight(line, "\n"); len([]rune(line)) > columns && strings.Contains(strings.TrimSpace(line), " ") {
				t.Errorf("%s: wider than the terminal: %q", command, line)
			}
		}
		if !strings.Contains(strings.Join(strings.Fields(text), " "), want) {
			t.Errorf("%s: %q, without %q", command, text, want)
		}
	}
}

// A proposal without a parent is applied only after a yes.
func TestAdoptAsksAgain(t *testing.T) {
	t.Parallel()
	dir, _, env := beginner(t)
	for _, argv := range [][]string{{"copse", "branch", "init"}, {"git", "branch", "feature/SHOP-9-logout"}, {"copse", "branch", "parent", "feature/SHOP-9-logout", "main"}} {
		cmd := exec.CommandContext(t.Context(), argv[0], argv[1:]...)
		if argv[0] == "copse" {
			cmd.Path = filepath.Join(built.Programs(t), "copse")
		}
		cmd.Dir, cmd.Env = dir, env
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", argv, out)
		}
	}
	s := sit(t, dir, env, "branch", "adopt", "--offline")
	s.until("branch: ")
	s.types("c")
	text := ""
	for !strings.Contains(text, "feature/SHOP-9-logout: apply this? [Y/n] ") {
		text = s.until("] ")
		if !strings.Contains(text, "feature/SHOP-9-logout: apply this?") {
			s.types("n")
		}
	}
	s.types("perhaps")
	if again := s.until("[Y/n] "); !strings.Contains(again, `"perhaps" is not an answer; answer with y, n`) {
		t.Errorf("after a wrong answer: %q", again)
	}
	if err := s.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
}

// TestInitRecording draws what a person sees of copse init, from a run at a terminal.
func TestInitRecording(t *testing.T) {
	t.Parallel()
	dir, home, env := beginner(t)
	s := sit(t, dir, env, "init")
	lines := [][]shown{{{text: "\x1b[32m$\x1b[0m \x1b[1mcopse init\x1b[0m"}}, nil}
	at := 0.6
	show := func(text string) {
		replaced := strings.NewReplacer(dir, "/home/ada/shop", home, "/home/ada").Replace(text)
		for i, line := range strings.Split(replaced, "\n") {
			if i > 0 {
				lines = append(lines, nil)
			}
			for j, part := range broken(line, 92) {
				if j > 0 {
					lines = append(lines, nil)
				}
				if part != "" {
					lines[len(lines)-1] = append(lines[len(lines)-1], shown{part, at})
				}
			}
		}
	}
	echo := ""
	for _, answer := range []string{"", "y", "", "", "", ""} {
		show(strings.TrimPrefix(s.until("] "), echo))
		s.types(answer)
		at += 0.9
		show("\x1b[1m" + answer + "\x1b[0m\n")
		at += 0.4
		echo = answer + "\n"
	}
	show(strings.TrimRight(strings.TrimPrefix(s.rest(), echo), "\n"))
	for i, line := range lines {
		if len(line) == 0 {
			lines[i] = []shown{{"", at}}
		}
	}
	diagram(t, "init", terminalPicture(94, "copse init in a terminal: it asks, summarizes, and confirms", lines))
}

// broken returns a line in parts of at most n characters, as a terminal breaks it between
// words.
func broken(line string, n int) []string {
	var parts []string
	for len(line) > n {
		at := strings.LastIndex(line[:n], " ")
		if at < 1 {
			at = n - 1
		}
		parts = append(parts, line[:at+1])
		line = line[at+1:]
	}
	return append(parts, line)
}
