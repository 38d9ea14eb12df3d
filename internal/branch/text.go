package branch

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/copse-dev/copse/internal/cleantext"
)

// The beginnings of a line: one for its own branch, after one for each level above.
const (
	middle  = "├── "
	last    = "└── "
	passing = "│   "
	past    = "    "
)

// Text draws the tree under n, one branch to a line, each line ended:
//
//	main
//	├── feature/login (PROJ-101, #42)
//	│   └── … 12 more
//	└── old (missing)
func (n *Node) Text() string { return n.draw(label) }

// MarkedText returns Text with a star after the current branch, as people see it.
func (n *Node) MarkedText() string {
	return n.draw(func(n *Node) string {
		if n.Current {
			return label(n) + " *"
		}
		return label(n)
	})
}

// draw draws the tree with a label for each branch.
func (n *Node) draw(label func(*Node) string) string {
	type level struct {
		node   *Node
		next   int // child
		indent int // length of the indent of its children
	}
	var text strings.Builder
	var indent []byte
	line := func(branch, label string) {
		text.Write(indent)
		text.WriteString(branch)
		text.WriteString(label)
		text.WriteByte('\n')
	}

	line("", label(n))
	open := []level{{node: n}}
	for len(open) > 0 {
		top := &open[len(open)-1]
		indent = indent[:top.indent]
		if top.next == len(top.node.Children) {
			if top.node.Omitted > 0 {
				line(last, omittedLabel(top.node.Omitted))
			}
			open = open[:len(open)-1]
			continue
		}
		child := top.node.Children[top.next]
		top.next++
		if top.next < len(top.node.Children) || top.node.Omitted > 0 {
			line(middle, label(child))
			indent = append(indent, passing...)
		} else {
			line(last, label(child))
			indent = append(indent, past...)
		}
		open = append(open, level{node: child, indent: len(indent)})
	}
	return text.String()
}

// label returns the name of n with its links, on one line of clean text.
func label(n *Node) string {
	var notes []string
	if n.JiraIssue != "" {
		notes = append(notes, n.JiraIssue)
	}
	if n.PRNumber != 0 {
		notes = append(notes, "#"+strconv.FormatUint(uint64(n.PRNumber), 10))
	}
	if n.Missing {
		notes = append(notes, "missing")
	}
	text := n.Branch
	if len(notes) > 0 {
		text += " (" + strings.Join(notes, ", ") + ")"
	}
	return cleantext.Line(text)
}

func omittedLabel(n int) string { return fmt.Sprintf("… %d more", n) }
