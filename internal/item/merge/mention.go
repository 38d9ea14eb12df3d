package merge

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/copse-dev/copse/internal/item"
)

// readable is the item of a version, with the numbers of the result in the texts that
// are new on its side.
func (m *merger) readable(e *entry, v *version) item.Item {
	if v == nil {
		return item.Item{}
	}
	it := v.it
	if v.side == 0 {
		return it
	}
	moved := m.moved[v.side]
	if len(moved) == 0 {
		return it
	}
	var before item.Item
	if e.base != nil {
		before = e.base.it
	}
	if it.Description != before.Description && strings.Contains(it.Description, "#") {
		it.Description = renumber(it.Description, strings.Split(before.Description, "\n"), moved.since(it.Updated))
	}
	it.Comments = slices.Clone(it.Comments)
	for i, c := range it.Comments {
		if strings.Contains(c.Body, "#") && !slices.Contains(before.Comments, c) {
			it.Comments[i].Body = renumber(c.Body, nil, moved.since(c.Date))
		}
	}
	return it
}

// moves are the numbers of a side that mean another number in the result.
type moves []move

type move struct {
	from, to item.ID
	created  string // of the item
}

// since returns what numbers in a text of a time have become. An item that was made
// later cannot be meant.
func (list moves) since(at string) map[string]string {
	numbers := map[string]string{}
	for _, m := range list {
		if compareTimes(m.created, at) <= 0 {
			numbers[m.from.String()] = m.to.String()
		}
	}
	return numbers
}

// findMoves finds the items that a side knows by another number.
func (m *merger) findMoves() {
	for i, s := range m.sides() {
		for id, v := range s.numbers {
			if e := m.entries[v.key]; i > 0 && e.state != absent && e.id != id {
				m.moved[i] = append(m.moved[i], move{id, e.id, v.it.Created})
			}
		}
	}
}

var (
	// mention is a number as people write it, with what decides whether it is that of
	// an item: what stands directly before it.
	mention = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(^|[^\w#&/!.\-])#([1-9][0-9]*)\b`) })
	// foreign is what a number follows that is not of an item here.
	foreign = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)\b(pr|prs|mr|pull|pull request|merge request|issue|issues|gh|github|gitlab|discussion|build|run|bug)\s*$`)
	})
)

// renumber writes numbers into a text, but for lines that are known, code, and what is
// called something else than an item.
func renumber(text string, known []string, numbers map[string]string) string {
	if len(numbers) == 0 {
		return text
	}
	lines := strings.Split(text, "\n")
	fenced := false
	for i, line := range lines {
		trimmed := strings.TrimLeft(line, " ")
		if strings.HasPrefix(trimmed, "```") || strings.HasPrefix(trimmed, "~~~") {
			fenced = !fenced
			continue
		}
		if !fenced && !slices.Contains(known, line) {
			lines[i] = renumberLine(line, numbers)
		}
	}
	return strings.Join(lines, "\n")
}

// renumberLine writes numbers into the parts of a line that are not code.
func renumberLine(line string, numbers map[string]string) string {
	parts := strings.Split(line, "`")
	for i, part := range parts {
		if i%2 == 1 && i < len(parts)-1 {
			continue
		}
		var b strings.Builder
		at := 0
		for _, match := range mention().FindAllStringSubmatchIndex(part, -1) {
			start, end := match[4], match[5]
			to, ok := numbers[part[start:end]]
			if !ok || foreign().MatchString(part[:match[3]]) {
				continue
			}
			b.WriteString(part[at:start] + to)
			at = end
		}
		parts[i] = b.String() + part[at:]
	}
	return strings.Join(parts, "`")
}
