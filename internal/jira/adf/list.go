package adf

import (
	"strconv"
	"strings"
)

// maxStart keeps the numbers of a list within the nine digits that Markdown
// allows, however long the list is.
const maxStart = 100_000_000

// startOf returns the number of a list's first item.
func startOf(n node) int {
	start, err := strconv.Atoi(n.attr("order"))
	if err != nil || start < 0 || start > maxStart {
		return 1
	}
	return start
}

// list renders the items of n; marker returns the marker of the i-th. Empty items are omitted.
func (r renderer) list(n node, marker func(i int) string) string {
	var items []string
	var width int // of the last item's marker
	i := 0
	for _, c := range n.children() {
		label, blocks := r.item(c)
		if len(blocks) == 0 {
			i++
			continue
		}
		if kind := kindOf(c); (kind == bullets || kind == numbers) && len(items) > 0 {
			// A task list within a task list is its child, not an item's.
			sep := "\n\n"
			if interrupts(blocks[0]) {
				sep = "\n"
			}
			items[len(items)-1] += sep + indent(join(blocks, true), width)
			continue
		}
		if label != "" {
			if blocks[0].kind == paragraph {
				blocks[0].text = label + " " + blocks[0].text
			} else {
				blocks = append([]block{{label, paragraph}}, blocks...)
			}
		}
		m := marker(i) + " "
		width = len(m)
		items = append(items, strings.TrimLeft(indent(m+join(blocks, true), width), " "))
		i++
	}
	return strings.Join(items, "\n")
}

// item returns the content of a list's child, and its marker.
func (r renderer) item(n node) (label string, blocks []block) {
	switch n.kind() {
	case "listItem":
	case "taskItem", "blockTaskItem":
		label = "[ ]"
		if n.attr("state") == "DONE" {
			label = "[x]"
		}
	case "decisionItem":
		label = "Decision:"
	default:
		return "", r.flow([]node{n})
	}
	if r.depth++; r.depth > maxDepth {
		return label, r.flow([]node{{"type": "text", "text": plainText(n)}})
	}
	return label, r.flow(n.children())
}

// indent puts width spaces before every line of text that is not empty.
func indent(text string, width int) string {
	pad := strings.Repeat(" ", width)
	lines := strings.Split(nested(text), "\n")
	for i, l := range lines {
		if l != "" {
			lines[i] = pad + l
		}
	}
	return strings.Join(lines, "\n")
}
