package route

import "testing"

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
