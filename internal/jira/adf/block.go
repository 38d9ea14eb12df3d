package adf

import (
	"strconv"
	"strings"
)

// renderer is the position of the rendering in the document.
type renderer struct {
	depth  int
	inCell bool // in a table cell, which is one line of Markdown
}

// block is the Markdown of a block node, without a line end after it.
type block struct {
	text string
	kind blockKind
}

type blockKind int

const (
	otherBlock blockKind = iota
	paragraph
	bullets // bullet, task and decision lists, which Markdown cannot tell apart
	numbers
)

// flow renders nodes in a place for blocks. Inline nodes between them become paragraphs.
func (r renderer) flow(list []node) []block {
	var out []block
	alternate := false
	add := func(text string, kind blockKind) {
		if text != "" {
			out = append(out, block{text, kind})
		}
	}
	for i := 0; i < len(list); {
		if isInline(list[i]) {
			end := i
			for end < len(list) && isInline(list[end]) {
				end++
			}
			add(r.paragraph(list[i:end]), paragraph)
			i = end
			continue
		}
		kind := kindOf(list[i])
		// Two adjacent lists of one kind would be read as one, without a different marker.
		isList := kind == bullets || kind == numbers
		alternate = isList && len(out) > 0 && out[len(out)-1].kind == kind && !alternate
		add(r.block(list[i], alternate), kind)
		i++
	}
	return out
}

func isInline(n node) bool {
	switch n.kind() {
	case "text", "hardBreak", "mention", "emoji", "date", "status", "placeholder",
		"inlineCard", "inlineExtension", "media", "mediaInline":
		return true
	case "blockCard", "bodiedExtension", "blockquote", "bulletList", "caption", "codeBlock", "decisionList",
		"embedCard", "expand", "extension", "heading", "nestedExpand", "orderedList", "panel", "paragraph",
		"rule", "table", "taskList":
		return false
	}
	return len(n.children()) == 0
}

func kindOf(n node) blockKind {
	switch n.kind() {
	case "paragraph", "caption", "mediaSingle", "mediaGroup":
		return paragraph
	case "bulletList", "taskList", "decisionList":
		return bullets
	case "orderedList":
		return numbers
	}
	return otherBlock
}

// block renders one node that is not inline.
func (r renderer) block(n node, alternate bool) string {
	if r.depth++; r.depth > maxDepth {
		return r.paragraph([]node{{"type": "text", "text": plainText(n)}})
	}
	switch n.kind() {
	case "paragraph", "caption":
		return r.paragraph(n.children())
	case "heading":
		return r.heading(n)
	case "bulletList", "taskList", "decisionList":
		return r.list(n, func(int) string {
			if alternate {
				return "+"
			}
			return "-"
		})
	case "orderedList":
		start := startOf(n)
		return r.list(n, func(i int) string {
			if alternate {
				return strconv.Itoa(start+i) + ")"
			}
			return strconv.Itoa(start+i) + "."
		})
	case "codeBlock":
		return r.codeBlock(n)
	case "blockquote":
		return quote(join(r.flow(n.children()), false))
	case "panel":
		return r.panel(n)
	case "expand", "nestedExpand":
		return r.expand(n)
	case "table":
		return r.table(n)
	case "rule":
		return "---"
	case "blockCard", "embedCard":
		return r.paragraph([]node{n})
	case "extension":
		return r.paragraph([]node{n})
	}
	// The layouts, unknown nodes, and misplaced nodes.
	blocks := r.flow(n.children())
	if own := r.paragraph([]node{{"type": "text", "text": ownText(n)}}); own != "" {
		blocks = append([]block{{own, paragraph}}, blocks...)
	}
	return join(blocks, false)
}

// extension returns the text of an app's macro, or else its name: the document does not contain its
// output.
func extension(n node) string {
	if text := line(n.attr("text")); text != "" {
		return escape(text, 0, false)
	}
	return "[" + escape(strings.TrimSpace("extension: "+line(n.attr("extensionKey"))), 0, true) + "]"
}

// ownText returns a node's own text.
func ownText(n node) string {
	if text := str(n["text"]); text != "" {
		return text
	}
	return n.attr("text")
}

// join puts blank lines between blocks, but none before a tight list if Markdown does not require
// one.
func join(blocks []block, tight bool) string {
	var b strings.Builder
	for i, bl := range blocks {
		switch {
		case i == 0:
		case tight && interrupts(bl):
			b.WriteString("\n")
		default:
			b.WriteString("\n\n")
		}
		b.WriteString(bl.text)
	}
	return b.String()
}

// interrupts reports whether a block is recognized directly after a paragraph's line: a numbered
// list only if it starts with 1.
func interrupts(b block) bool {
	return b.kind == bullets || b.kind == numbers && (strings.HasPrefix(b.text, "1. ") || strings.HasPrefix(b.text, "1) "))
}

func (r renderer) heading(n node) string {
	text := r.oneLine(n.children())
	if text == "" || r.inCell {
		return text
	}
	if rest := strings.TrimRight(text, "#"); rest != text && (rest == "" || strings.HasSuffix(rest, " ")) {
		text = text[:len(text)-1] + `\#`
	}
	level, _ := strconv.Atoi(n.attr("level"))
	return strings.Repeat("#", min(max(level, 1), 6)) + " " + text
}

func (r renderer) codeBlock(n node) string {
	var b strings.Builder
	for _, c := range n.children() {
		b.WriteString(plainText(c))
	}
	code := strings.Trim(clean(b.String()), "\n")
	if strings.TrimSpace(code) == "" {
		return ""
	}
	if r.inCell {
		lines := strings.Split(code, "\n")
		for i, l := range lines {
			lines[i] = codeSpan(l)
		}
		return strings.Join(lines, "\n")
	}
	fence := strings.Repeat("`", max(3, longestRun(code, '`')+1))
	return fence + language(n.attr("language")) + "\n" + code + "\n" + fence
}

// language returns name if it is valid in an info string.
func language(name string) string {
	for _, c := range name {
		if !isWord(c) && !strings.ContainsRune("+#.-", c) {
			return ""
		}
	}
	return name
}

func (r renderer) panel(n node) string {
	blocks := r.flow(n.children())
	if len(blocks) == 0 {
		return ""
	}
	sep := "\n"
	if blocks[0].kind != paragraph {
		sep = "\n\n"
	}
	label := "NOTE"
	switch kind := n.attr("panelType"); kind {
	case "info", "tip", "warning", "error", "success":
		label = strings.ToUpper(kind)
	}
	return quote("[!" + label + "]" + sep + join(blocks, false))
}

func (r renderer) expand(n node) string {
	blocks := r.flow(n.children())
	if title := line(n.attr("title")); title != "" {
		blocks = append([]block{{"**" + escape(title, '*', false) + "**", paragraph}}, blocks...)
	}
	return join(blocks, false)
}

func quote(text string) string {
	if text == "" {
		return ""
	}
	lines := strings.Split(nested(text), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight("> "+l, " ")
	}
	return strings.Join(lines, "\n")
}
