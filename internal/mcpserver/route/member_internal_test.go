package route

import (
	"strings"
	"testing"

	"github.com/copse-dev/copse/internal/toolset"
)

// An answer names its worktree in a last member, in the layout of the object.
func TestMember(t *testing.T) {
	t.Parallel()
	for object, want := range map[string]string{
		`{}`:                        `{"worktree":"/w"}`,
		`{"a":1}`:                   `{"a":1,"worktree":"/w"}`,
		`{"a":{"worktree":"../x"}}`: `{"a":{"worktree":"../x"},"worktree":"/w"}`,
		"{\n  \"a\": 1\n}":          "{\n  \"a\": 1,\n  \"worktree\": \"/w\"\n}",
	} {
		r := Locate(toolset.Result{Text: []string{object}, Structured: []byte(object)}, "/w")
		if r.Text[0] != want || string(r.Structured) != want || Located(object, "/w", true) != want {
			t.Errorf("%s became %s and %s, want %s", object, r.Text, r.Structured, want)
		}
	}
	// Beside a worktree with another meaning, the member has another name.
	own := Locate(toolset.Result{Structured: []byte(`{"worktree":"../x"}`), OwnWorktree: true}, "/w")
	if want := `{"worktree":"../x","answered_in":"/w"}`; string(own.Structured) != want {
		t.Errorf("got %s, want %s", own.Structured, want)
	}
}

// The last line of a text names its worktree, whatever lines and paths occur in it: they can be those
// of a file.
func TestLocatedText(t *testing.T) {
	t.Parallel()
	const line = "Worktree: `/w/app`\n"
	for text, want := range map[string]string{
		"a file":                        "a file\n" + line,
		"see /w/app":                    "see /w/app\n" + line,
		"/w/app-two/file is not here\n": "/w/app-two/file is not here\n" + line,
		"# P\n\nRoot: `/w/app`\nMore\n": "# P\n\nRoot: `/w/app`\nMore\n" + line,
		"Root: `/w/app/below`\n":        "Root: `/w/app/below`\n" + line,
		line + "Worktree: `/w/b`\n":     line + "Worktree: `/w/b`\n" + line,
	} {
		if got := strings.Join(Locate(toolset.Result{Text: []string{text}}, "/w/app").Text, ""); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
		if got := Located(text, "/w/app", false); !strings.HasSuffix(got, "\n\n"+line) {
			t.Errorf("%q became %q", text, got)
		}
	}
}
