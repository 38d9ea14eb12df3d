package branch

import (
	"strconv"
	"unicode/utf8"
)

// fits reports whether the complete tree stays within limit.
func (g *Graph) fits(positions []position, limit Limit) bool {
	if limit.Nodes > 0 && len(positions) > limit.Nodes {
		return false
	}
	if limit.Bytes <= 0 {
		return true
	}
	used := 0
	for _, p := range positions {
		n := g.node(p.node)
		if used += cost(&n, int(p.depth)); used > limit.Bytes {
			return false
		}
	}
	return true
}

// cut returns how many of the positions, in level order, stay within limit. One without all of its
// children costs a mark, even while only some of its children have been counted.
func (g *Graph) cut(positions []position, limit Limit) int {
	sizes := subtreeSizes(positions)
	children := make([]int, len(positions)) // not counted yet
	for _, p := range positions[1:] {
		children[p.parent]++
	}
	used := 0
	for i, p := range positions {
		if limit.Nodes > 0 && i == limit.Nodes {
			return i
		}
		n := g.node(p.node)
		used += cost(&n, int(p.depth))
		if children[i] > 0 {
			used += markCost(sizes[i]-1, int(p.depth))
		}
		if p.parent != none {
			if children[p.parent]--; children[p.parent] == 0 {
				used -= markCost(sizes[p.parent]-1, int(p.depth)-1)
			}
		}
		if limit.Bytes > 0 && used > limit.Bytes && i > 0 {
			return i
		}
	}
	return len(positions)
}

// cost returns a lower bound of the bytes that n, at depth, takes as JSON and as a line of text
// within a JSON string.
func cost(n *Node, depth int) int {
	const always = len(`{"branch":"","children":[]},`) + len(`""`) // the quotes of the text
	c := always + escaped(n.Branch)
	if n.JiraIssue != "" {
		c += len(`,"jira_issue":""`) + escaped(n.JiraIssue)
	}
	if n.PRNumber != 0 {
		c += len(`,"pr_number":`) + len(strconv.FormatUint(uint64(n.PRNumber), 10))
	}
	if n.Missing {
		c += len(`,"missing":true`)
	}
	if n.Current {
		c += len(`,"current":true`)
	}
	return c + indentCost(depth) + escaped(label(n)) + len(`\n`)
}

// markCost returns a lower bound of the bytes that it takes to state, at and under a position at
// depth, that up to omitted places are missing.
func markCost(omitted, depth int) int {
	c := len(`,"omitted":`) + len(strconv.Itoa(omitted))
	return c + indentCost(depth+1) + len(omittedLabel(omitted)) + len(`\n`)
}

func indentCost(depth int) int {
	if depth == 0 {
		return 0
	}
	return (depth-1)*max(len(passing), len(past)) + max(len(middle), len(last))
}

// escaped returns a lower bound of the bytes that s takes within a JSON string, whichever
// characters the encoder escapes.
func escaped(s string) int {
	const escape = len(`\u0000`)
	c := 0
	for _, r := range s {
		switch {
		case r == '"', r == '\\':
			c += len(`\"`)
		case r == '<', r == '>', r == '&', r < ' ', r == utf8.RuneError, r == '\u2028', r == '\u2029':
			c += escape
		default:
			c += utf8.RuneLen(r)
		}
	}
	return c
}
