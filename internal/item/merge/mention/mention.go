// Package mention finds and changes the numbers of items in texts: #10 where it means an
// item for certain.
package mention

import (
	"strings"

	"github.com/copse-dev/copse/internal/distinct"
	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/merge/fields"
	"github.com/copse-dev/copse/internal/lazyregexp"
)

// Moves are the numbers of a side that mean another number in the result.
type Moves []Move

// Move is one number.
type Move struct {
	From, To item.ID
	Created  string // of the item
}

// Since returns what numbers in a text of a time have become. An item that was made
// later cannot be meant.
func (list Moves) Since(at string) map[string]string {
	numbers := map[string]string{}
	for _, m := range list {
		if fields.CompareTimes(m.Created, at) <= 0 {
			numbers[m.From.String()] = m.To.String()
		}
	}
	return numbers
}

var (
	// number is one as people write it, with what decides whether it is that of
	// an item: what stands directly before it.
	number = lazyregexp.New(`(^|[^\w#&/!.\-])#([1-9][0-9]*)\b`)
	// foreign is what a number follows that is not of an item here.
	foreign = lazyregexp.New(`(?i)\b(pr|prs|mr|pull|pull request|merge request|issue|issues|gh|github|gitlab|discussion|build|run|bug)\s*$`)
)

// Renumber writes numbers into a text, but for lines that are known, code, and what is
// called something else than an item.
func Renumber(text string, known []string, numbers map[string]string) string {
	if len(numbers) == 0 {
		return text
	}
	lines, same := strings.Split(text, "\n"), distinct.Of(known...)
	fenced := false
	for i, line := range lines {
		trimmed := strings.TrimLeft(line, " ")
		if strings.HasPrefix(trimmed, "```") || strings.HasPrefix(trimmed, "~~~") {
			fenced = !fenced
			continue
		}
		if !fenced && !same.Has(line) {
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
		for _, match := range number.Get().FindAllStringSubmatchIndex(part, -1) {
			start, end := match[4], match[5]
			to, ok := numbers[part[start:end]]
			if !ok || foreign.Get().MatchString(part[:match[3]]) {
				continue
			}
			b.WriteString(part[at:start] + to)
			at = end
		}
		parts[i] = b.String() + part[at:]
	}
	return strings.Join(parts, "`")
}

// Numbers returns the numbers that a text mentions, in their order.
func Numbers(text string) []item.ID {
	var numbers []item.ID
	for _, match := range number.Get().FindAllStringSubmatch(text, -1) {
		if id, err := item.ParseID(match[2]); err == nil {
			numbers = append(numbers, id)
		}
	}
	return numbers
}
