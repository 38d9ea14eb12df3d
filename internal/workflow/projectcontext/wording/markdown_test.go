package wording

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/copse-dev/copse/internal/foreign"
	"github.com/copse-dev/copse/internal/workflow/projectcontext"
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

func section(name string, text body) part {
	return newPart(projectcontext.Section{Name: name, Title: strings.ToUpper(name)}, text)
}

func TestJoin(t *testing.T) {
	t.Parallel()
	got := join([]part{
		section("a", body{head: []foreign.Line{foreign.Own("always")}, lines: lines(2)}),
		newPart(projectcontext.Section{Name: "b", Title: "B", Unavailable: "`just` is\nnot installed"}, body{}),
		section("long", body{lines: lines(50)}),
		section("log", body{head: []foreign.Line{foreign.Own("It printed:")}, lines: quoted(50), keepEnd: true}),
	}, []foreign.Line{foreign.Own("And so on.")}, 350)
	want := `## A

always
line 1
line 2

## B

Unavailable: ` + "`just`" + ` is not installed

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

And so on.
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got := join([]part{section("long", body{lines: []foreign.Line{foreign.Name(strings.Repeat("x", 5000))}})}, nil, 4000); len(got) > 250 {
		t.Errorf("a line of %d bytes", len(got))
	}
}

func TestMarkdownNamesEmptySections(t *testing.T) {
	t.Parallel()
	got := Markdown(projectcontext.Context{Sections: []projectcontext.Section{
		{Name: "project", Title: "Project", Content: projectcontext.Project{Root: "/p"}},
		{Name: "recipes", Title: "Tasks", Empty: "no justfile"},
		{Name: "tree", Title: "Files", Empty: "no files"},
	}}, projectcontext.DefaultTokens, foreign.Line{})
	want := "## Project\n\nRoot: `/p`\nNot a git repository.\n\nEmpty: recipes (no justfile), tree (no files).\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Files that a sparse checkout leaves out are counted where no cut removes the line.
func TestMarkdownCountsFilesLeftOut(t *testing.T) {
	t.Parallel()
	got := Markdown(projectcontext.Context{Sections: []projectcontext.Section{
		{Name: "tree", Title: "Files", Content: projectcontext.Files{LeftOut: 2}},
	}}, projectcontext.DefaultTokens, foreign.Line{})
	want := "## Files\n\nThe sparse checkout of this worktree leaves out 2 tracked files; list_directory names them.\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// One line that does not fit is counted as one.
func TestFitCountsOneLine(t *testing.T) {
	t.Parallel()
	long := foreign.Own("line ").Word(strings.Repeat("x", 500))
	for end, want := range map[bool]string{false: `… 1 more line; sections=["a"] has it`, true: `… 1 line before; sections=["a"] has it`} {
		all := append(lines(2), long)
		if end {
			all = append([]foreign.Line{long}, lines(2)...)
		}
		got := foreign.Markdown(section("a", body{lines: all, keepEnd: end}).fit(300))
		if !strings.Contains(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// However long the heads are, the text fits. Sections without room are listed.
func TestLongHeadsFit(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		var parts []part
		for i := range rapid.IntRange(1, 9).Draw(rt, "sections") {
			text := body{lines: lines(rapid.IntRange(0, 40).Draw(rt, "lines"))}
			for range rapid.IntRange(0, 40).Draw(rt, "head") {
				text.head = append(text.head, foreign.Own("x ").Name(strings.Repeat("h", 100)))
			}
			parts = append(parts, section(fmt.Sprintf("s%d", i), text))
		}
		room := rapid.IntRange(800, 4000).Draw(rt, "room")
		got := join(parts, []foreign.Line{foreign.Own("Later.")}, room)
		if len(got) > room || !strings.HasSuffix(got, "\nLater.\n") {
			rt.Errorf("%d bytes where %d are allowed: %s", len(got), room, got)
		}
		_, left, _ := strings.Cut(got, "Left out, for lack of room: ")
		for _, p := range parts {
			if !strings.Contains(got, "## "+strings.ToUpper(p.name)+"\n") && !strings.Contains(left, p.name) {
				rt.Errorf("%s is missing", p.name)
			}
		}
	})
}

// The text fits, and no section disappears.
func TestFits(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		var parts []part
		for i := range rapid.IntRange(1, 9).Draw(rt, "sections") {
			text := body{keepEnd: rapid.Bool().Draw(rt, "end")}
			for _, drawn := range rapid.SliceOfN(rapid.StringMatching(`[a-z \x60\n]{0,300}`), 0, 60).Draw(rt, "lines") {
				if rapid.Bool().Draw(rt, "quoted") {
					text.lines = append(text.lines, foreign.Quote(drawn)...)
				} else {
					text.lines = append(text.lines, foreign.Own("x ").Name(drawn))
				}
			}
			parts = append(parts, section(fmt.Sprintf("s%d", i), text))
		}
		room := rapid.IntRange(2000, 12000).Draw(rt, "room")
		got := join(parts, nil, room)
		if len(got) > room {
			rt.Errorf("%d bytes where %d are allowed", len(got), room)
		}
		for _, p := range parts {
			if !strings.Contains(got, "## "+strings.ToUpper(p.name)+"\n") {
				rt.Errorf("%s is missing", p.name)
			}
		}
	})
}
