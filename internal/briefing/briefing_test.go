package briefing_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/copse-dev/copse/internal/briefing"
	"github.com/copse-dev/copse/internal/foreign"
)

func lines(n int) []foreign.Line {
	var all []foreign.Line
	for i := range n {
		all = append(all, foreign.Own("line ").Int(i+1))
	}
	return all
}

func quoted(n int) []foreign.Line {
	var all []foreign.Line
	for i := range n {
		all = append(all, foreign.Quoted(fmt.Sprintf("line %d", i+1)))
	}
	return all
}

// source answers with a body or an error.
func source(name string, body briefing.Body, err error) briefing.Source {
	return briefing.Source{
		Name: name, Title: strings.ToUpper(name), Limit: time.Second,
		Look: func(context.Context) (briefing.Body, error) { return body, err },
	}
}

func write(t *testing.T, tokens int, sources ...briefing.Source) string {
	t.Helper()
	b, err := briefing.Gather(t.Context(), sources)
	if err != nil {
		t.Fatal(err)
	}
	return b.Markdown(tokens)
}

func TestMarkdown(t *testing.T) {
	t.Parallel()
	got := write(t, 100,
		source("a", briefing.Body{Head: []foreign.Line{foreign.Own("always")}, Lines: lines(2)}, nil),
		source("b", briefing.Body{}, errors.New("it is\nbroken")),
		source("none", briefing.Body{}, &briefing.Nothing{Why: "no file"}),
		source("long", briefing.Body{Lines: lines(50)}, nil),
		source("log", briefing.Body{Head: []foreign.Line{foreign.Own("It printed:")}, Lines: quoted(50), KeepEnd: true}, nil),
		source("empty", briefing.Body{}, &briefing.Nothing{Why: "nothing there"}),
	)
	want := `## A

always
line 1
line 2

## B

Not known: ` + "`\"it is\\nbroken\"`" + `

## LONG

line 1
line 2
line 3
line 4
line 5
line 6
line 7
… 43 more lines; sections=["long"] has them

## LOG

It printed:
… 46 lines before; sections=["log"] has them

    line 47
    line 48
    line 49
    line 50

Nothing to tell of: none (no file), empty (nothing there).
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got := write(t, 1000, source("long", briefing.Body{Lines: []foreign.Line{foreign.Name(strings.Repeat("x", 5000))}}, nil)); len(got) > 250 {
		t.Errorf("a line of %d bytes", len(got))
	}
}

// A source that hangs holds up nothing.
func TestLimit(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	defer close(release)
	begun := time.Now()
	slow := briefing.Source{Name: "slow", Title: "Slow", Limit: 50 * time.Millisecond, Look: func(context.Context) (briefing.Body, error) {
		<-release
		return briefing.Body{}, nil
	}}
	got := write(t, 100, slow, source("a", briefing.Body{Lines: lines(1)}, nil))
	if want := "## Slow\n\nNot known: `no answer within 50ms`\n\n## A\n\nline 1\n"; got != want || time.Since(begun) > 5*time.Second {
		t.Errorf("got %q", got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := briefing.Gather(ctx, []briefing.Source{slow}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// What is written fits, and no section disappears.
func TestFits(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		var sources []briefing.Source
		n := rapid.IntRange(1, 9).Draw(rt, "sections")
		for i := range n {
			body := briefing.Body{KeepEnd: rapid.Bool().Draw(rt, "end")}
			for _, text := range rapid.SliceOfN(rapid.StringMatching(`[a-z \x60\n]{0,300}`), 0, 60).Draw(rt, "lines") {
				if rapid.Bool().Draw(rt, "quoted") {
					body.Lines = append(body.Lines, foreign.Quote(text)...)
				} else {
					body.Lines = append(body.Lines, foreign.Own("x ").Name(text))
				}
			}
			sources = append(sources, source(fmt.Sprintf("s%d", i), body, nil))
		}
		tokens := rapid.IntRange(500, 3000).Draw(rt, "tokens")
		b, err := briefing.Gather(context.Background(), sources)
		if err != nil {
			rt.Fatal(err)
		}
		got := b.Markdown(tokens)
		if len(got) > tokens*briefing.BytesPerToken {
			rt.Errorf("%d bytes for %d tokens", len(got), tokens)
		}
		for _, s := range sources {
			if !strings.Contains(got, "## "+s.Title+"\n") {
				rt.Errorf("%s is missing", s.Name)
			}
		}
	})
}
