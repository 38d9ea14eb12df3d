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
	// If the columns do not fit, each row is a paragraph, and nothing is lost.
	narrow := `1 Short
    status done
12 A title that is
    rather long for
    a terminal
    status
    in-progress
300
    日本語の題名も幅
    を持つものである
    status todo
`
	if diff := cmp.Diff(narrow, table(t, 20, "NO_COLOR=1")); diff != "" {
		t.Error(diff)
	}
}

// What a person types is not cut. Where it does not fit, the rows are paragraphs, and a label is
// the name of the cell behind it.
func TestHandles(t *testing.T) {
	t.Parallel()
	s := &screen{width: 30}
	err := output.New(app.Env{Stdout: s}).Table(
		[]output.Column{{Name: "branch", Handle: true}, {Name: "fact", Label: true}, {Name: "value", Handle: true}, {Name: "reason", Flexible: true}},
		[][]string{{"feature/login", "parent", "main", "no branch below it"}, {"b", "jira", "", "in the name"}})
	const want = "feature/login\n    parent main, reason no\n    branch below it\nb\n    reason in the name\n"
	if diff := cmp.Diff(want, s.String()); diff != "" || err != nil {
		t.Error(diff, err)
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
