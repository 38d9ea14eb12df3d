package wording

import (
	"slices"
	"strings"

	"github.com/copse-dev/copse/internal/foreign"
	"github.com/copse-dev/copse/internal/page"
	"github.com/copse-dev/copse/internal/workflow/projectcontext"
)

const (
	// maxLine is how many characters a line has before the names in it are cut.
	maxLine = 200
	// noticeSize is the most bytes of the line that says what was cut.
	noticeSize = 64
)

// Markdown returns a context as Markdown of at most maxTokens tokens. It names every section: if
// there is too little room, it cuts the longest first, inside and down to the same size, and states
// it. Where not even the headings fit, it leaves out the last sections and lists them.
//
// last is a line of copse that ends the text, an empty one for none.
func Markdown(c projectcontext.Context, maxTokens int, last foreign.Line) string {
	var parts []part
	var empty []foreign.Line
	scale := projectcontext.Scale(maxTokens)
	for _, s := range c.Sections {
		if s.Empty != "" {
			empty = append(empty, foreign.Own("").Word(s.Name).Own(" (").Word(s.Empty).Own(")"))
			continue
		}
		parts = append(parts, newPart(s, bodyOf(s.Content, c.At, scale)))
	}
	var rest []foreign.Line
	if len(empty) > 0 {
		rest = append(rest, foreign.Own("Empty: ").Add(foreign.Join(empty, ", ")).Own("."))
	}
	return join(parts, append(rest, last), maxTokens*projectcontext.BytesPerToken)
}

// Changed is what changed in a section.
type Changed struct {
	Name, Title string
	// Head and Lines are the changes. Head is cut only if there is no room for Lines; with KeepEnd,
	// the end of a long list of lines is the most important.
	Head, Lines []foreign.Line
	KeepEnd     bool
}

// Changes returns changes as Markdown of at most maxTokens tokens, followed by lines of ours.
func Changes(list []Changed, maxTokens int, last ...foreign.Line) string {
	var parts []part
	for _, c := range list {
		parts = append(parts, newPart(projectcontext.Section{Name: c.Name, Title: c.Title}, body{head: c.Head, lines: c.Lines, keepEnd: c.KeepEnd}))
	}
	return join(parts, last, maxTokens*projectcontext.BytesPerToken)
}

// part is a section as it is written.
type part struct {
	body
	name string
}

// newPart returns a section with its heading.
func newPart(s projectcontext.Section, text body) part {
	p := part{name: s.Name, body: body{keepEnd: text.keepEnd}}
	p.head = append(p.head, foreign.Own("## ").Word(s.Title), foreign.Line{})
	for _, line := range text.head {
		p.head = append(p.head, line.Cut(maxLine))
	}
	if s.Unavailable != "" {
		p.head = append(p.head, foreign.Own("Unavailable: ").Notice(s.Unavailable))
		if len(text.lines) > 0 {
			p.head = append(p.head, foreign.Line{}) // ends the paragraph
		}
	}
	for _, line := range text.lines {
		p.lines = append(p.lines, line.Cut(maxLine))
	}
	return p
}

// join writes parts, and lines after them, in at most room bytes. If the heads are too long, they
// are cut like the lines below them, and if that does not suffice, parts are left out from the end.
func join(parts []part, after []foreign.Line, room int) string {
	text := write(parts, after, room)
	if len(text) <= room {
		return text
	}
	short := make([]part, len(parts))
	for i, p := range parts {
		short[i] = p.loosened()
	}
	var without []foreign.Line
	for {
		var left []foreign.Line
		if len(without) > 0 {
			left = append(left, foreign.Own("Left out, for lack of room: ").Add(foreign.Join(without, ", ")).Own("."))
		}
		text = write(short, append(left, after...), room)
		n := len(short) - 1
		if len(text) <= room || n < 1 {
			return text
		}
		without = append([]foreign.Line{foreign.Own("").Word(short[n].name)}, without...)
		short = short[:n]
	}
}

// headingLines is the number of lines that a heading takes.
const headingLines = 2

// loosened returns a part of whose head only the heading is never cut.
func (p part) loosened() part {
	if p.keepEnd {
		return p
	}
	p.head, p.lines = p.head[:headingLines:headingLines], slices.Concat(p.head[headingLines:], p.lines)
	return p
}

// write writes parts, and lines after them, in at most room bytes if the heads fit, and a line for
// each cut part.
func write(parts []part, after []foreign.Line, room int) string {
	rest := ""
	for _, line := range after {
		if text := line.Markdown(); text != "" {
			rest += "\n" + text + "\n"
		}
	}
	if len(parts) == 0 {
		rest = strings.TrimPrefix(rest, "\n")
	}
	room -= len(rest) + len(parts) // an empty line between two parts
	sizes := make([]int, len(parts))
	for i, p := range parts {
		room -= size(p.head)
		sizes[i] = size(p.lines)
	}
	share := page.Share(sizes, room)
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

// size returns the largest number of bytes that lines take, including separators.
func size(lines []foreign.Line) int {
	all := 0
	for i, l := range lines {
		all += cost(l, i == 0 || l.Foreign() != lines[i-1].Foreign())
	}
	return all
}

// cost returns the bytes that a line takes; first says that an empty line may have to
// stand before or after it.
func cost(l foreign.Line, first bool) int {
	n := len(l.Markdown()) + len("\n")
	if first {
		n++
	}
	return n
}

// fit returns the lines that fit in room bytes, with one that says what was cut.
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
	left, unit, them := foreign.Own("… ").Int(len(lines)-shown), "lines", "them"
	if len(lines)-shown == 1 {
		unit, them = "line", "it"
	}
	end := foreign.Own(`; sections=["`).Word(p.name).Own(`"] has `).Word(them)
	if p.keepEnd {
		slices.Reverse(kept)
		return append([]foreign.Line{left.Own(" ").Word(unit).Own(" before").Add(end)}, kept...)
	}
	return append(kept, left.Own(" more ").Word(unit).Add(end))
}
