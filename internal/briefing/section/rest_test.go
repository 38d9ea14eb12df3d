package section

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/copse-dev/copse/internal/docker"
	"github.com/copse-dev/copse/internal/foreign"
	"github.com/copse-dev/copse/internal/git"
)

// engine has containers that all failed.
type engine struct{ failed int }

func (e engine) Containers(context.Context, string) ([]docker.Container, error) {
	var list []docker.Container
	for i := range e.failed {
		list = append(list, docker.Container{Name: fmt.Sprintf("job-%d", i), State: "dead", Ours: true})
	}
	return list, nil
}

func (engine) Logs(context.Context, string, int) (string, error) { return "", nil }

// A list that is shown whole does not say that there is more.
func TestMoreIsSaidWhereThereIsMore(t *testing.T) {
	t.Parallel()
	containers := func(n int) string {
		body, err := Containers(engine{n}, "/", time.Now).Look(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		for _, line := range body.Lines {
			text.WriteString(line.Plain())
		}
		return text.String()
	}
	worktrees := func(n int) string {
		var list []git.Worktree
		for i := range n {
			list = append(list, git.Worktree{Path: fmt.Sprintf("/w%d", i), Branch: "b"})
		}
		var text strings.Builder
		for _, line := range others(list, "/") {
			text.WriteString(line.Plain())
		}
		return text.String()
	}
	names := func(n int) string {
		room := 5 * len(foreign.Spell("abc")+" ")
		return enumerate(strings.Fields(strings.Repeat("abc ", n)), foreign.Line{}.Own(" "), room).Plain()
	}
	for what, tt := range map[string]struct {
		list func(n int) string
		most int
	}{
		"containers": {containers, maxFailing},
		"worktrees":  {worktrees, maxWorktrees},
		"names":      {names, 5},
	} {
		if text := tt.list(tt.most); strings.Contains(text, "more") {
			t.Errorf("%d %s: %s", tt.most, what, text)
		}
		if text := tt.list(tt.most + 1); !strings.Contains(text, " 1 more") {
			t.Errorf("%d %s: %s", tt.most+1, what, text)
		}
	}
}
