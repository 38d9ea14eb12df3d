package route

import (
	"strings"
	"testing"

	"github.com/copse-dev/copse/internal/toolset"
)

// An answer names its worktree beside a member of the same name, and never has a member twice.
func TestMember(t *testing.T) {
	t.Parallel()
	for object, want := range map[string]string{
		`{}`:                        `{"worktree":"/w"}`,
		`{"a":1}`:                   `{"a":1,"worktree":"/w"}`,
		`{"worktree":"../x"}`:       `{"worktree":"../x","answered_in":"/w"}`,
		`{"worktree":null}`:         `{"worktree":null,"answered_in":"/w"}`,
		`{"a":{"worktree":"../x"}}`: `{"a":{"worktree":"../x"},"worktree":"/w"}`,
		"{\n  \"worktree\": 1\n}":   "{\n  \"worktree\": 1,\n  \"answered_in\": \"/w\"\n}",
	} {
		if got := string(withMember([]byte(object), []byte(`"/w"`))); got != want {
			t.Errorf("%s became %s, want %s", object, got, want)
		}
	}
}

// A text names its worktree in a line of its own, whatever paths occur in it.
func TestLocatedText(t *testing.T) {
	t.Parallel()
	const line = "Worktree: `/w/app`\n"
	for text, want := range map[string]string{
		"a file":                        "a file\n" + line,
		"see /w/app":                    "see /w/app\n" + line,
		"/w/app-two/file is not here\n": "/w/app-two/file is not here\n" + line,
		"# P\n\nRoot: `/w/app`\nMore":   "# P\n\nRoot: `/w/app`\nMore",
		"Root: `/w/app/below`\n":        "Root: `/w/app/below`\n" + line,
		"x\n" + line:                    "x\n" + line,
	} {
		if got := strings.Join(Locate(toolset.Result{Text: []string{text}}, "/w/app").Text, ""); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
		if got := Located(text, "/w/app"); strings.Count(got, "`/w/app`") != 1 {
			t.Errorf("%q became %q", text, got)
		}
	}
}
