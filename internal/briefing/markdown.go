package briefing

import (
	"fmt"
	"slices"
	"strings"

	"github.com/copse-dev/copse/internal/cleantext"
)

const (
	// BytesPerToken is what a token is counted as.
	BytesPerToken = 4
	// maxLine is how many characters of a line are shown.
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
		fixed += len(p.head)
		sizes[i] = p.size()
	}
	share := fairShare(sizes, maxTokens*BytesPerToken-fixed)
	var out strings.Builder
	for i, p := range parts {
		if i > 0 {
			out.WriteByte('\n')
		}
		out.WriteString(p.head)
		for _, line := range p.fit(min(sizes[i], share)) {
			out.WriteString(line)
			out.WriteByte('\n')
		}
	}
	out.WriteString(rest)
	return out.String()
}

// part is a section as it is written.
type part struct {
	name    string
	head    string
	lines   []string
	keepEnd bool
}

// size is the bytes of all lines.
func (p part) size() int {
	size := 0
	for _, line := range p.lines {
		size += len(line) + 1
	}
	return size
}

// parts are the sections that say something, and a line about the others.
func (b Briefing) parts() (parts []part, rest string) {
	var nothing []string
	for _, s := range b.Sections {
		if s.Nothing != "" {
			nothing = append(nothing, fmt.Sprintf("%s (%s)", s.Name, cleantext.Line(s.Nothing)))
			continue
		}
		var head strings.Builder
		fmt.Fprintf(&head, "## %s\n\n", s.Title)
		for _, line := range s.Body.Head {
			head.WriteString(clip(line) + "\n")
		}
		if s.Failure != "" {
			fmt.Fprintf(&head, "Not known: %s\n", clip(cleantext.Line(s.Failure)))
		}
		p := part{name: s.Name, head: head.String(), keepEnd: s.Body.KeepEnd}
		for _, line := range s.Body.Lines {
			p.lines = append(p.lines, clip(line))
		}
		parts = append(parts, p)
	}
	if len(nothing) > 0 {
		rest = "\nNothing to tell of: " + strings.Join(nothing, ", ") + ".\n"
	}
	return parts, rest
}

func clip(line string) string { return cleantext.Cut(line, maxLine) }

// fairShare is the most that each of several parts can have, so that together they have
// no more than all: those that need less leave the others more.
func fairShare(sizes []int, all int) int {
	sorted := slices.Sorted(slices.Values(sizes))
	for i, size := range sorted {
		each := max(all, 0) / (len(sorted) - i)
		if size > each {
			return each
		}
		all -= size
	}
	return max(all, 0) + slices.Max(append(sorted, 0))
}

// fit returns the lines that go into so many bytes, with one that says what was cut.
func (p part) fit(room int) []string {
	if p.size() <= room {
		return p.lines
	}
	lines := slices.Clone(p.lines)
	if p.keepEnd {
		slices.Reverse(lines)
	}
	shown := 0
	for room -= noticeSize; shown < len(lines) && len(lines[shown])+1 <= room; shown++ {
		room -= len(lines[shown]) + 1
	}
	kept := lines[:shown]
	notice := fmt.Sprintf("… %d more lines; sections=[%q] has them", len(lines)-shown, p.name)
	if p.keepEnd {
		slices.Reverse(kept)
		return append([]string{strings.Replace(notice, "more lines", "lines before", 1)}, kept...)
	}
	return append(kept, notice)
}
