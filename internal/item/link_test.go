package item_test

import (
	"testing"

	"github.com/copse-dev/copse/internal/item"
)

func TestLinkIsChecked(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		"12": "12", "#12": "12", "o/r#12": "o/r#12", "https://github.com/o/r/pull/12": "o/r#12", "https://g.example/o/r/pull/12/files#x": "o/r#12", "": "",
	} {
		p, err := item.Config{}.Check(item.Patch{PullRequest: &given})
		if err != nil || *p.PullRequest != want {
			t.Errorf("%q: got %v, %v, want %q", given, p.PullRequest, err, want)
		}
	}
	for _, bad := range []string{"x", "0", "o/r", "https://github.com/o/r/issues/1", "-1"} {
		if _, err := (item.Config{}).Check(item.Patch{PullRequest: &bad}); err == nil {
			t.Errorf("the pull request %q is accepted", bad)
		}
	}
	for _, bad := range []string{"-x", "a..b", "a b", "x.lock", "/a", "a/", "a~1", "@", "a\nb", "a@{1}"} {
		if _, err := (item.Config{}).Check(item.Patch{Branch: &bad}); err == nil {
			t.Errorf("the branch %q is accepted", bad)
		}
	}
	for _, bad := range []string{"a\nb", "a\x1b[2J"} {
		if _, err := (item.Config{}).Check(item.Patch{Worktree: &bad}); err == nil {
			t.Errorf("the worktree %q is accepted", bad)
		}
	}
}
