package output_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/clipperhouse/displaywidth"
	"github.com/google/go-cmp/cmp"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/cli/output"
	"github.com/copse-dev/copse/internal/secret"
)

// screen is a terminal of some width.
type screen struct {
	bytes.Buffer
	width int
}

func (s *screen) Width() int { return s.width }

var columns = []output.Column{{Name: "id", Right: true}, {Name: "title", Flexible: true}, {Name: "status"}}

func rows() [][]string {
	return [][]string{
		{"1", "Short", "done"},
		{"12", "A title that is rather long for a terminal", "in-progress"},
		{"300", "日本語の題名も幅を持つものである", "todo"},
	}
}

func table(t *testing.T, width int, environ ...string) string {
	t.Helper()
	s := &screen{width: width}
	o := output.New(app.Env{Stdout: s, Environ: environ})
	if err := o.Table(columns, rows()); err != nil {
		t.Fatal(err)
	}
	return s.String()
}

func TestTable(t *testing.T) {
	t.Parallel()
	want := ` ID  TITLE                   STATUS
  1  Short                   done
 12  A title that is rathe…  in-progress
300  日本語の題名も幅を持…   todo
`
	got := table(t, 40, "NO_COLOR=1")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for line := range strings.Lines(got) {
		if w := displaywidth.String(strings.TrimSuffix(line, "\n")); w > 40 {
			t.Errorf("%q is %d wide", line, w)
		}
	}
	if wide := table(t, 200, "NO_COLOR=1"); strings.Contains(wide, "…") {
		t.Errorf("cut without need:\n%s", wide)
	}
	// If the columns do not fit, the values of the last ones are below their row, and nothing is lost.
	narrow := ` ID  TITLE
  1  Short
    status done
 12  A title that is
     rather long for
     a terminal
    status
    in-progress
300  日本語の題名も
     幅を持つもので
     ある
    status todo
`
	if diff := cmp.Diff(narrow, table(t, 20, "NO_COLOR=1")); diff != "" {
		t.Error(diff)
	}
}

// What a person types is not cut. A row where it does not fit is a paragraph, and a label is the name
// of the cell behind it. A row with a short handle stays in the table.
func TestHandles(t *testing.T) {
	t.Parallel()
	s := &screen{width: 30}
	err := output.New(app.Env{Stdout: s, Environ: []string{"NO_COLOR=1"}}).Table(
		[]output.Column{{Name: "branch", Handle: true}, {Name: "fact", Label: true}, {Name: "value", Handle: true}, {Name: "reason", Flexible: true}},
		[][]string{{"feature/login", "parent", "main", "no branch below it"}, {"b", "jira", "", "in the name"}})
	const want = "BRANCH  FACT  VALUE\nfeature/login\n    parent main, reason no\n    branch below it\nb       jira\n    reason in the name\n"
	if diff := cmp.Diff(want, s.String()); diff != "" || err != nil {
		t.Error(diff, err)
	}
}

// One long value does not change the form of the other rows: a long path makes a paragraph of its
// row, columns without a value are omitted, and a value for which there is no column is below its row.
func TestLongValue(t *testing.T) {
	t.Parallel()
	s := &screen{width: 60}
	err := output.New(app.Env{Stdout: s, Environ: []string{"NO_COLOR=1"}}).Table(
		[]output.Column{{Name: "worktree", Handle: true}, {Name: "branch", Handle: true}, {Name: "pr"}, {Name: "changes"}, {Name: "keep", Clear: true}},
		[][]string{
			{"shop", "feature/session", "?", "clean", "keep: it is the main worktree, never pushed"},
			{"shop/.worktrees/6-investigate-why-the-checkout-loses-the-second-discount", "tic/6", "-", "clean", "safe"},
			{"shop-2", "cart", "?", "2 changed, 1 untracked", ""},
		})
	const want = `WORKTREE  BRANCH           CHANGES
shop      feature/session  clean
    keep: it is the main worktree, never pushed
shop/.worktrees/6-investigate-why-the-checkout-loses-the-second-discount
    branch tic/6, changes clean, safe
shop-2    cart             2 changed, 1 untracked
`
	if diff := cmp.Diff(want, s.String()); diff != "" || err != nil {
		t.Error(diff, err)
	}
}

// A path is cut in the middle, and values that would become alike are wrapped.
func TestCut(t *testing.T) {
	t.Parallel()
	for want, paths := range map[string][]string{
		"ID  PATH\n1   /home/ada…rees/login\n2   /home/eve…es/reviews\n": {"/home/ada/shop/worktrees/login", "/home/eve/shop/worktrees/reviews"},
		"ID  PATH\n1   /home/ada/shop/workt\n    rees/login\n2   /home/ada/long/workt\n    rees/login\n": {
			"/home/ada/shop/worktrees/login", "/home/ada/long/worktrees/login",
		},
	} {
		s := &screen{width: 24}
		err := output.New(app.Env{Stdout: s, Environ: []string{"NO_COLOR=1"}}).Table(
			[]output.Column{{Name: "id"}, {Name: "path", Flexible: true, Path: true}}, [][]string{{"1", paths[0]}, {"2", paths[1]}})
		if diff := cmp.Diff(want, s.String()); diff != "" || err != nil {
			t.Error(diff, err)
		}
	}
}

// A line of prose is wrapped, and one that a person copies is not.
func TestLines(t *testing.T) {
	t.Parallel()
	s := &screen{width: 20}
	o := output.New(app.Env{Stdout: s})
	if err := errors.Join(o.Line("added %s to the list", "/home/ada/shop"), o.Whole("git switch -c feature/login")); err != nil {
		t.Fatal(err)
	}
	const want = "added /home/ada/shop\n  to the list\ngit switch -c feature/login\n"
	if diff := cmp.Diff(want, s.String()); diff != "" {
		t.Error(diff)
	}
}

func TestColor(t *testing.T) {
	t.Parallel()
	for want, environs := range map[bool][][]string{
		true:  {nil, {"TERM=xterm"}, {"NO_COLOR="}},
		false: {{"NO_COLOR=1"}, {"TERM=dumb"}, {"CLICOLOR=0"}},
	} {
		for _, environ := range environs {
			if got := strings.Contains(table(t, 80, environ...), "\x1b["); got != want {
				t.Errorf("%v: colors %v, want %v", environ, got, want)
			}
		}
	}
}

func TestPipe(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	o := output.New(app.Env{Stdout: &b})
	if o.Terminal() {
		t.Error("a buffer counts as a terminal")
	}
	if err := o.Table(columns, [][]string{{"1", "a\tb\nc \x1b[31mred\x1b[0m \u202eevil", "todo"}}); err != nil {
		t.Fatal(err)
	}
	if err := o.Line("done: %s", "a\nb"); err != nil {
		t.Fatal(err)
	}
	if err := o.Text("a\n\x1b[2Jb\n\n"); err != nil {
		t.Fatal(err)
	}
	if err := o.JSON(map[string]string{"a": "<&>"}); err != nil {
		t.Fatal(err)
	}
	want := "1\ta b c red evil\ttodo\ndone: a b\na\nb\n{\n  \"a\": \"<&>\"\n}\n"
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Error(diff)
	}
}

// A table without rows is nothing, not a header.
func TestEmptyTable(t *testing.T) {
	t.Parallel()
	s := &screen{width: 80}
	if err := output.New(app.Env{Stdout: s}).Table(columns, nil); err != nil || s.Len() > 0 {
		t.Errorf("got %q, %v", s.String(), err)
	}
}

// A line that is too wide continues below its text, in a tree beside the lines of the tree.
func TestFold(t *testing.T) {
	t.Parallel()
	const text = "#1 A short one\n├─ #2 A title that is longer than the terminal \x1b[2m[task]\x1b[0m\n│  └─ #3 Another title that is too long\n" +
		"  averyveryverylongwordthatstays\n\n"
	s := &screen{width: 24}
	if err := output.New(app.Env{Stdout: s}).Fold(text); err != nil {
		t.Fatal(err)
	}
	want := "#1 A short one\n├─ #2 A title that is\n│      longer than the\n│      terminal \x1b[2m[task]\x1b[0m\n│  └─ #3 Another title\n│         that is too\n│         long\n" +
		"  averyveryverylongwordthatstays\n\n"
	if diff := cmp.Diff(want, s.String()); diff != "" {
		t.Error(diff)
	}
	var pipe bytes.Buffer
	if err := output.New(app.Env{Stdout: &pipe}).Fold(text); err != nil || pipe.String() != text {
		t.Errorf("in a pipe: %q, %v", &pipe, err)
	}
}

// JSON on a terminal means the same, and cannot control the terminal or reverse text.
func TestJSONOnTerminal(t *testing.T) {
	t.Parallel()
	const text = "a\u009b31m \u202eevil \u2028 \x7f \U000e0041 日本"
	s := &screen{width: 80}
	if err := output.New(app.Env{Stdout: s}).JSON(text); err != nil {
		t.Fatal(err)
	}
	const want = `"a\u009b31m \u202eevil \u2028 \u007f \udb40\udc41 日本"` + "\n"
	if diff := cmp.Diff(want, s.String()); diff != "" {
		t.Error(diff)
	}
	var again string
	if err := json.Unmarshal(s.Bytes(), &again); err != nil || again != text {
		t.Errorf("got %q, %v", again, err)
	}
}

// A secret that is cut, or wrapped over lines, is removed before.
func TestSecretsAreNotWrapped(t *testing.T) {
	t.Parallel()
	token := "ghp_" + strings.Repeat("0123456789", 6)
	s := &screen{width: 40}
	known := secret.New(nil)
	known.Add(token)
	o := output.New(app.Env{Stdout: s, Secrets: known})
	for _, write := range []func() error{
		func() error {
			return o.Table(columns, [][]string{{"1", "the token " + token, "done"}, {token, "a", "todo"}})
		},
		func() error { return o.Hang("label: ", token) },
		func() error { return o.Line("the token %s", token) },
		func() error { return o.Fold("├─ " + token + "\n") },
	} {
		if err := write(); err != nil {
			t.Fatal(err)
		}
	}
	if text := s.String(); strings.Contains(strings.Join(strings.Fields(text), ""), "0123456789") {
		t.Error(text)
	}
}
