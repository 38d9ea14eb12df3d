package moved_test

import (
	"strings"
	"testing"

	"github.com/copse-dev/copse/internal/item/moved"
)

// A mark survives the way through its text, and whatever the text is, it is one line and a mark.
func TestMark(t *testing.T) {
	t.Parallel()
	for _, m := range []moved.Mark{{To: "postgres://db.example/team?project=shop"}, {From: "the directory .tic"}} {
		if got := moved.Parse(m.String() + "\n"); got != m || !m.Is(got) || got.Err() == nil || got.Warning() == "" {
			t.Errorf("%+v came back as %+v", m, got)
		}
	}
	for _, text := range []string{"", "\n", "a\nb\x1b[31m", "arriving from ", strings.Repeat("x", 10_000)} {
		m := moved.Parse(text)
		if m.Err() == nil || strings.ContainsAny(m.Err().Error(), "\n\x1b") || len(m.Err().Error()) > 500 {
			t.Errorf("%q gives %v", text, m.Err())
		}
	}
	long := moved.Mark{To: strings.Repeat("long", 200)}
	if got := moved.Parse(long.String()); !got.Is(long) {
		t.Errorf("%+v is not the mark that it was made of", got)
	}
	if (moved.Mark{}).Is(moved.Mark{}) || moved.Parse("").Is(moved.Mark{}) || (moved.Mark{}).Err() != nil || (moved.Mark{}).Warning() != "" {
		t.Error("the zero mark counts")
	}
}

// A mark names the choice that leads to the store with the items.
func TestFollow(t *testing.T) {
	t.Parallel()
	for to, want := range map[string]string{moved.Files: "unset COPSE_ITEMS", "postgres://db.example/team": "choose that store with COPSE_ITEMS"} {
		m := moved.Parse(moved.Mark{To: to}.String())
		if !strings.Contains(m.Err().Error(), want) || !strings.Contains(m.Warning(), want) {
			t.Errorf("%s: got %v, and %s", to, m.Err(), m.Warning())
		}
	}
}
