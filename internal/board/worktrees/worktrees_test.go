package worktrees_test

import (
	"context"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/copse-dev/copse/internal/board"
	"github.com/copse-dev/copse/internal/board/markup"
	view "github.com/copse-dev/copse/internal/board/worktrees"
	"github.com/copse-dev/copse/internal/workflow/stack"
	"github.com/copse-dev/copse/internal/workflow/worktrees"
)

type list []worktrees.Worktree

func (l list) List(context.Context) ([]worktrees.Worktree, error) { return l, nil }

// Somebody who reads that a worktree has no uncommitted files removes it. The page says so only of
// one whose files were compared.
func TestOnlyComparedIsClean(t *testing.T) {
	t.Parallel()
	now := func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }
	for _, tt := range []struct {
		worktree worktrees.Worktree
		clean    bool
	}{
		{worktrees.Worktree{}, true},
		{worktrees.Worktree{Uncompared: true}, false},
		{worktrees.Worktree{Unexamined: true}, false},
	} {
		tt.worktree.Worktree = stack.Worktree{Name: "w", Path: "/w"}
		page, err := view.New(markup.NewKit(markup.Options{Now: now}), view.Options{Worktrees: list{tt.worktree}, Now: now}).
			Render(t.Context(), board.Request{Query: url.Values{"at": {"/w"}}})
		if err != nil {
			t.Fatal(err)
		}
		row, files := string(page.Sections[0].Rows[0].HTML), ""
		for _, block := range page.Detail.Blocks {
			if block.Key == "files" {
				files = string(block.HTML)
			}
		}
		if got := strings.Contains(row, ">clean<"); got != tt.clean {
			t.Errorf("the row says clean: %t, want %t\n%s", got, tt.clean, row)
		}
		if got := strings.Contains(files, ">none<"); got != tt.clean {
			t.Errorf("the panel says that there are no files: %t, want %t\n%s", got, tt.clean, files)
		}
	}
}
