package board

import (
	"context"
	"encoding/json"
	"fmt"
	"html/template"
	"log/slog"
	"net/url"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/copse-dev/copse/internal/board/markup"
	"github.com/copse-dev/copse/internal/board/parts"
	"github.com/copse-dev/copse/internal/failure"
)

// list is a view of rows.
type list struct{ rows atomic.Int32 }

func (*list) Name() string      { return "list" }
func (*list) Title() string     { return "List" }
func (*list) Watches() []Source { return []Source{Items} }

func (*list) Act(context.Context, Request, string, url.Values) (Outcome, error) {
	return Outcome{}, nil
}

func (v *list) Render(context.Context, Request) (Page, error) {
	section := Section{Key: "rows", Label: "Rows"}
	for i := range v.rows.Load() {
		section.Rows = append(section.Rows, Row{Key: fmt.Sprint(i), HTML: template.HTML(fmt.Sprint(i))})
	}
	return Page{Title: "List", Sections: []Section{section}}, nil
}

// A page that is newer than the last update gets only the changes after its own version: a row that
// it has is not added once more.
func TestFollowFromANewerPage(t *testing.T) {
	t.Parallel()
	v := &list{}
	v.rows.Store(1)
	changed := make(chan func(Source), 1)
	b := New(markup.NewKit(markup.Options{Now: time.Now}), Options{
		Views: []View{v}, Now: time.Now, Logger: slog.New(slog.DiscardHandler), Summary: func(context.Context) Summary { return Summary{Name: "n"} },
		Watch: func(ctx context.Context, ready func(), call func(Source)) {
			changed <- call
			ready()
			<-ctx.Done()
		},
	})
	t.Cleanup(b.Close)
	version := func() string {
		page, err := b.render(t.Context(), v, Request{})
		if err != nil {
			t.Fatal(err)
		}
		return page.Version
	}
	follow := func(version string) func() (ops []string) {
		got := make(chan message, 16)
		go func() {
			_ = b.live.follow(t.Context(), v, Request{}, version, func(m message) error {
				got <- m
				return nil
			})
		}()
		return func() (ops []string) {
			var steps []parts.Step
			if err := json.Unmarshal((<-got).steps, &steps); err != nil {
				t.Error(err)
			}
			for _, s := range steps {
				ops = append(ops, s.Op)
			}
			return ops
		}
	}
	notify := func(v *list, to int32, call func(Source)) { v.rows.Store(to); call(Items) }

	old := follow(version())
	if ops := old(); ops != nil {
		t.Fatalf("at first: %v", ops)
	}
	v.rows.Store(2) // and nobody has noticed so far
	recent := follow(version())
	if ops := recent(); ops != nil {
		t.Fatalf("at first: %v", ops)
	}
	if ops := old(); !slices.Equal(ops, []string{"add"}) {
		t.Errorf("the older page gets %v", ops)
	}
	notify(v, 1, <-changed)
	for name, next := range map[string]func() []string{"older": old, "newer": recent} {
		if ops := next(); !slices.Equal(ops, []string{"remove"}) {
			t.Errorf("the %s page gets %v", name, ops)
		}
	}

	// A page of a version that nobody has seen is loaded again, and is not changed until then.
	unknown := follow("unknown")
	if ops := unknown(); !slices.Equal(ops, []string{"reload"}) {
		t.Errorf("an unknown page gets %v", ops)
	}
	v.rows.Store(3)
	b.live.changed(Items)
	if ops := unknown(); !slices.Equal(ops, []string{"reload"}) {
		t.Errorf("then the unknown page gets %v", ops)
	}
}

// An open page gets nothing of a directory that took the place of the worktree, also if that happened
// while its content was made.
func TestMovedWhileOpen(t *testing.T) {
	t.Parallel()
	v := &list{}
	var moved atomic.Bool
	b := New(markup.NewKit(markup.Options{Now: time.Now}), Options{
		Views: []View{v}, Now: time.Now, Logger: slog.New(slog.DiscardHandler),
		Moved: func() error {
			if moved.Load() {
				return failure.New(failure.NoRepository, "It leads elsewhere", "")
			}
			return nil
		},
	})
	t.Cleanup(b.Close)
	page, err := b.render(t.Context(), v, Request{})
	if err != nil {
		t.Fatal(err)
	}
	got := make(chan message, 16)
	go func() {
		_ = b.live.follow(t.Context(), v, Request{}, page.Version, func(m message) error {
			got <- m
			return nil
		})
	}()
	<-got
	key := topicKey(v, Request{})
	v.rows.Store(1)
	b.live.remake(t.Context(), key)
	<-got
	last := func() string {
		b.live.mu.Lock()
		defer b.live.mu.Unlock()
		return b.live.topics[key].last.Version
	}
	sent := last()
	v.rows.Store(2)
	moved.Store(true)
	b.live.remake(t.Context(), key)
	if last() != sent {
		t.Error("an open page gets a change")
	}
	during := func(ctx context.Context, r Request) (Page, error) {
		defer moved.Store(true)
		return v.Render(ctx, r)
	}
	moved.Store(false)
	if page, err := b.content(t.Context(), v, during, Request{}); err != nil || len(page.Sections) != 1 || page.Sections[0].Key != "problem" {
		t.Errorf("the content is %+v, %v", page, err)
	}
	if _, err := b.begin(t.Context(), v); err == nil {
		t.Error("the frame is shown")
	}
}
