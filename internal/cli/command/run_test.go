package command_test

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/cli/command"
	"github.com/copse-dev/copse/internal/command/catalog"
)

// screen is a terminal.
type screen struct{ bytes.Buffer }

func (*screen) Width() int { return 80 }

// A prompt reaches a pipe unchanged, and a terminal without what could control it. A note names the
// characters that nobody sees.
func TestRunAtTerminal(t *testing.T) {
	t.Parallel()
	const template = "# Hello\x1b[2J\x1b]52;c;ZXZpbA==\x07 a\u202eb\u200b \u009b31mred\U000e0041\r\n\tend\r\n"
	dir := t.TempDir()
	if _, err := catalog.Init(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, ".agent", "climpt", "prompts", "git", "write", "commit-message", "f_default.md")
	if err := os.WriteFile(file, []byte(template), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(stdout io.Writer) (stderr string) {
		var errs bytes.Buffer
		env := app.Env{Stdin: strings.NewReader(""), Stdout: stdout, Stderr: &errs, Dir: dir, Environ: []string{"HOME=" + t.TempDir()}, GOOS: "linux", Now: time.Now}
		cmd := command.Command(env)
		cmd.SetArgs([]string{"run", "git", "write", "commit-message", "--no-input"})
		if err := cmd.ExecuteContext(t.Context()); err != nil {
			t.Fatal(err)
		}
		return errs.String()
	}
	var pipe bytes.Buffer
	if run(&pipe); pipe.String() != template {
		t.Errorf("a pipe gets %q", &pipe)
	}
	var s screen
	note := run(&s)
	if want := "# Hello ab red\n\tend\n"; s.String() != want {
		t.Errorf("a terminal gets %q, want %q", &s, want)
	}
	if !strings.Contains(note, "invisible characters: U+001B, U+0007, U+202E, U+200B, U+009B, U+E0041") {
		t.Errorf("the note is %q", note)
	}
}
