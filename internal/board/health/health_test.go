package health_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/copse-dev/copse/internal/board"
	"github.com/copse-dev/copse/internal/board/health"
	"github.com/copse-dev/copse/internal/board/markup"
	"github.com/copse-dev/copse/internal/workflow/doctor"
)

// The command that adds a client to the servers requires a name, so the page offers no copy of it.
func TestCommandWithName(t *testing.T) {
	t.Parallel()
	v := health.New(markup.NewKit(markup.Options{Now: time.Now}), health.Options{
		Examine: func(context.Context) []doctor.Finding { return nil },
		Servers: func() []health.Server { return []health.Server{{Running: true}} },
		Now:     time.Now,
	})
	page, err := v.Render(t.Context(), board.Request{})
	if err != nil {
		t.Fatal(err)
	}
	head := string(page.Sections[1].Head)
	if !strings.Contains(head, "copse mcp install --transport http --client NAME") || strings.Contains(head, "data-copy") {
		t.Error(head)
	}
}
