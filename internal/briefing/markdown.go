package briefing

import (
	"slices"
	"strings"

	"github.com/copse-dev/copse/internal/foreign"
	"github.com/copse-dev/copse/internal/page"
)

const (
	// BytesPerToken is what a token is counted as.
	BytesPerToken = 4
	// maxLine is how many characters a line has before the names in it are cut.
	maxLine = 200
	// noticeSize is how long the line is that says what was cut, at most.
	noticeSize = 64
)

// Markdown writes the briefing in at most so many tokens, if the headings fit.
func (b Briefing) Markdown(maxTokens int) string {
	parts, rest := b.parts()
	fixed := len(rest) + len(parts) // with an empty line between two
	sizes := make([]int, len(parts))
	for i, p := range parts {
		fixed += size(p.head)
		sizes[i] = size(p.lines)
	}
	share := page.Share(sizes, maxTokens*BytesPerToken-fixed)
	var out strings.Builder
	for i, p := range parts {
		if i > 0 {
			out.WriteByte('\n')
		}
		out.WriteString(foreign.Markdown(append(slices.Clip(p.head), p.fit(min(sizes[i], share))...)))
	}
	out.WriteString(rest)
	return out.String()
}

// part is a section as it is written.
type part struct {
	name    string
	head    []foreign.Line
	lines   []foreign.Line
	keepEnd bool
}

// size is the most bytes that lines take, with what is written between them.
func size(lines []foreign.Line) int {
	all := 0
	for i, l := range lines {
		all += cost(l, i == 0 || l.Foreign() != lines[i-1].Foreign())
	}
	return all
}

// cost is the bytes that a line takes; first says that an empty line may have to stand
// before or behind it.
func cost(l foreign.Line, first bool) int {
	n := len(l.Markdown()) + len("\n")
	if first {
		n++
	}
	return n
}

// parts are the sections that say something, and a line about the others.
func (b Briefing) parts() (parts []part, rest string) {
	var nothing []foreign.Line
	for _, s := range b.Sections {
		if s.Nothing != "" {
			nothing = append(nothing, foreign.Own("").Word(s.Name).Own(" (").Word(s.Nothing).Own(")"))
			continue
		}
		p := part{name: s.Name, keepEnd: s.Body.KeepEnd}
		p.head = append(p.head, foreign.Own("## ").Word(s.Title), foreign.Line{})
		for _, line := range s.Body.Head {
			p.head = append(p.head, line.Cut(maxLine))
		}
		if s.Failure != "" {
			p.head = append(p.head, foreign.Own("Not known: ").Name(s.Failure).Cut(maxLine))
		}
		for _, line := range s.Body.Lines {
			p.lines = append(p.lines, line.Cut(maxLine))
		}
		parts = append(parts, p)
	}
	if len(nothing) > 0 {
		rest = "\n" + foreign.Markdown([]foreign.Line{foreign.Own("Nothing to tell of: ").Add(foreign.Join(nothing, ", ")).Own(".")})
	}
	return parts, rest
}

// fit returns the lines that go into so many bytes, with one that says what was cut.
func (p part) fit(room int) []foreign.Line {
	if size(p.lines) <= room {
		return p.lines
	}
	lines := slices.Clone(p.lines)
	if p.keepEnd {
		slices.Reverse(lines)
	}
	shown := 0
	for room -= noticeSize; shown < len(lines); shown++ {
		needs := cost(lines[shown], shown == 0 || lines[shown].Foreign() != lines[shown-1].Foreign())
		if needs > room {
			break
		}
		room -= needs
	}
	kept := lines[:shown]
	left := foreign.Own("… ").Int(len(lines) - shown)
	if p.keepEnd {
		slices.Reverse(kept)
		return append([]foreign.Line{left.Own(" lines before").Own(`; sections=["`).Word(p.name).Own(`"] has them`)}, kept...)
	}
	return append(kept, left.Own(" more lines").Own(`; sections=["`).Word(p.name).Own(`"] has them`))
}
