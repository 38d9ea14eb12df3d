package adf

import (
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/copse-dev/copse/internal/cleantext"
)

// mark is a format that Markdown supports. Marks open in the order of rank, so neighbors share
// their common ones.
type mark struct {
	rank  int
	open  string
	close string
}

const (
	linkRank = iota
	strongRank
	strikeRank
	emRank
)

// paragraph renders inline nodes as lines that no reader mistakes for other blocks.
func (r renderer) paragraph(list []node) string {
	text := r.inline(list)
	if r.inCell { // where no line begins a block
		return text
	}
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		lines[i] = escapeStart(l, i == 0)
	}
	return strings.Join(lines, "\n")
}

// oneLine renders inline nodes in a place where Markdown allows only one line.
func (r renderer) oneLine(list []node) string {
	r.inCell = true // breaks without a mark of their own
	return strings.Join(strings.Fields(r.inline(list)), " ")
}

func (r renderer) inline(list []node) string {
	w := inliner{inCell: r.inCell}
	w.nodes(list, r.depth)
	w.closeFrom(0)
	return string(w.buf)
}

// inliner writes one paragraph's Markdown. White space at the edge of a format moves outside it,
// where the format remains valid.
type inliner struct {
	inCell bool
	buf    []byte
	open   []mark
	space  []byte // seen, but not yet known to be inside or at the end
	breaks int    // likewise
}

func (w *inliner) nodes(list []node, depth int) {
	for i := 0; i < len(list); i++ {
		n := list[i]
		if n.kind() != "text" {
			w.node(n, depth)
			continue
		}
		// Adjacent texts with the same marks are one text.
		marks, code := formats(n)
		var text strings.Builder
		text.WriteString(str(n["text"]))
		for i+1 < len(list) && list[i+1].kind() == "text" {
			m, c := formats(list[i+1])
			if c != code || !slices.Equal(m, marks) {
				break
			}
			i++
			text.WriteString(str(list[i]["text"]))
		}
		w.text(clean(text.String()), marks, code)
	}
}

func (w *inliner) node(n node, depth int) {
	marks, _ := formats(n)
	switch n.kind() {
	case "hardBreak":
		w.breaks++
	case "mention":
		name := first(n.attr("text"), n.attr("id"))
		if name != "" && !strings.HasPrefix(name, "@") {
			name = "@" + name
		}
		w.text(line(name), marks, false)
	case "emoji":
		w.text(line(first(n.attr("text"), n.attr("shortName"))), marks, false)
	case "date":
		w.text(date(n.attr("timestamp")), marks, false)
	case "status":
		if text := line(n.attr("text")); text != "" {
			w.write("["+escape(text, 0, true)+"]", marks)
		}
	case "inlineCard", "blockCard", "embedCard":
		w.card(n, marks)
	case "media", "mediaInline":
		name := line(first(n.attr("alt"), n.attr("__fileName"), n.attr("url"), n.attr("id")))
		if len(w.space) == 0 {
			w.space = append(w.space, ' ')
		}
		w.write("["+escape(strings.TrimSpace("attachment: "+name), 0, true)+"]", marks)
	case "extension", "inlineExtension":
		w.write(extension(n), marks)
	default:
		if depth++; depth > maxDepth {
			w.text(line(plainText(n)), marks, false)
			return
		}
		w.text(clean(ownText(n)), marks, false)
		w.nodes(n.children(), depth)
	}
}

func (w *inliner) card(n node, marks []mark) {
	url := first(n.attr("url"), str(n.data()["url"]))
	name := line(str(n.data()["name"]))
	switch {
	case url == "":
		w.text(name, marks, false)
	case name == "":
		w.text(line(url), linked(marks, url), false)
	default:
		w.text(name, linked(marks, url), false)
	}
}

// text writes text that is data; line feeds in it are breaks.
func (w *inliner) text(s string, marks []mark, code bool) {
	for i, l := range strings.Split(s, "\n") {
		if i > 0 {
			w.breaks++
		}
		switch {
		case strings.TrimSpace(l) == "":
			w.space = append(w.space, l...)
		case code:
			w.write(codeSpan(l), marks)
		case isWeb(l) && len(marks) > 0 && marks[0] == link(l):
			w.write("<"+target(l)+">", marks[1:])
		default:
			w.escaped(l, marks)
		}
	}
}

// escaped writes a line of text, which is not empty.
func (w *inliner) escaped(s string, marks []mark) {
	core := strings.TrimFunc(s, unicode.IsSpace)
	lead, trail, _ := strings.Cut(s, core)
	w.space = append(w.space, lead...)
	w.begin(marks)
	prev, _ := utf8.DecodeLastRune(w.buf)
	if len(w.buf) == 0 {
		prev = 0
	}
	inLink := len(marks) > 0 && marks[0].rank == linkRank
	w.buf = append(w.buf, escape(core, prev, inLink)...)
	w.space = append(w.space, trail...)
}

// write writes finished Markdown.
func (w *inliner) write(s string, marks []mark) {
	if s == "" {
		return
	}
	w.begin(marks)
	w.buf = append(w.buf, s...)
}

// begin writes the transition from the text so far to more text with marks.
func (w *inliner) begin(marks []mark) {
	common := 0
	for common < len(w.open) && common < len(marks) && w.open[common] == marks[common] {
		common++
	}
	if w.breaks > 1 {
		common = 0 // no format spans paragraphs
	}
	w.closeFrom(common)
	switch {
	case len(w.buf) == 0:
	case w.breaks == 0:
		w.buf = append(w.buf, w.space...)
	case w.inCell:
		w.buf = append(w.buf, '\n')
	case w.breaks == 1:
		w.buf = append(w.buf, "\\\n"...)
	default:
		w.buf = append(w.buf, "\n\n"...)
	}
	w.space, w.breaks = w.space[:0], 0
	for _, m := range marks[common:] {
		if last := len(w.buf) - 1; m.rank == linkRank && last >= 0 && w.buf[last] == '!' {
			w.buf = append(w.buf[:last], `\!`...)
		}
		w.buf = append(w.buf, m.open...)
		w.open = append(w.open, m)
	}
}

func (w *inliner) closeFrom(i int) {
	for len(w.open) > i {
		last := len(w.open) - 1
		w.buf = append(w.buf, w.open[last].close...)
		w.open = w.open[:last]
	}
}

// formats returns the marks of n in the order of rank, each rank once, and
// whether it is code.
func formats(n node) (marks []mark, code bool) {
	var found [emRank + 1]*mark
	for _, m := range n.marks() {
		switch m.kind() {
		case "code":
			code = true
		case "link":
			if l := link(m.attr("href")); l.open != "" {
				found[linkRank] = &l
			}
		case "strong":
			found[strongRank] = &mark{strongRank, "**", "**"}
		case "strike":
			found[strikeRank] = &mark{strikeRank, "~~", "~~"}
		case "em":
			found[emRank] = &mark{emRank, "*", "*"}
		}
	}
	for _, m := range found {
		if m != nil {
			marks = append(marks, *m)
		}
	}
	return marks, code
}

// link returns the mark of a link to href; it is empty if there is no valid one.
func link(href string) mark {
	if href = target(href); href == "" {
		return mark{}
	}
	return mark{linkRank, "[", "](" + escapeEntities(href) + ")"}
}

// linked returns marks with a link to href instead of any other.
func linked(marks []mark, href string) []mark {
	l := link(href)
	if l.open == "" {
		return marks
	}
	if len(marks) > 0 && marks[0].rank == linkRank {
		marks = marks[1:]
	}
	return append([]mark{l}, marks...)
}

// isWeb reports whether a link to itself can be written as <href>.
func isWeb(href string) bool {
	return strings.HasPrefix(href, "https://") || strings.HasPrefix(href, "http://")
}

// target returns href in a form that is valid in a link: without characters that end it, and empty
// if it would run a script.
func target(href string) string {
	href = strings.TrimSpace(line(href))
	scheme, _, _ := strings.Cut(href, ":")
	switch strings.ToLower(scheme) {
	case "javascript", "vbscript", "data":
		return ""
	}
	return escaped(href)
}

// escaped returns an address without characters that have a meaning in Markdown.
func escaped(href string) string {
	return strings.NewReplacer(" ", "%20", "(", "%28", ")", "%29", "<", "%3C", ">", "%3E",
		"|", "%7C", `\`, "%5C", "`", "%60", "[", "%5B", "]", "%5D", "*", "%2A", "\u00a0", "%C2%A0").Replace(href)
}

// date returns the day of a timestamp in milliseconds, or else the text itself.
func date(timestamp string) string {
	ms, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil {
		return line(timestamp)
	}
	return time.UnixMilli(ms).UTC().Format(time.DateOnly)
}

func first(candidates ...string) string {
	for _, c := range candidates {
		if strings.TrimSpace(c) != "" {
			return c
		}
	}
	return ""
}

func clean(s string) string { return cleantext.Block(s) }

func line(s string) string { return strings.TrimSpace(cleantext.Line(s)) }
