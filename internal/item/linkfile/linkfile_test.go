package linkfile_test

import (
	"testing"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/linkfile"
)

func TestLinkText(t *testing.T) {
	t.Parallel()
	for _, l := range []item.Link{
		{},
		{Branch: "a/b", Worktree: "/x y: z", PullRequest: "o/r#12"},
		{PullRequest: "7"},
	} {
		if got := linkfile.Parse(linkfile.Text(l, 3)); got != l {
			t.Errorf("%+v is read as %+v", l, got)
		}
	}
	merged := "item: 3\nbranch: a\nbranch: b\r\nother: x\nno line\npull_request: 7\n"
	if got, want := linkfile.Parse(merged), (item.Link{Branch: "b", PullRequest: "7"}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got := linkfile.Parse("branch: --orphan\n"); got != (item.Link{}) {
		t.Errorf("an option is taken for a branch: %+v", got)
	}
}
