package justsource

import (
	"strings"

	"github.com/copse-dev/copse/internal/lazyregexp"
)

// line is the text of a logical line: what just reads up to the end of a line that is not in a string, not
// between parentheses, and not after a backslash.
type line struct{ from, to int }

var (
	indent  = lazyregexp.New(`^[ \t]+`)
	leading = lazyregexp.New(`^(?:\x{FEFF}|[ \t]|\\\r?\n)+`)
	comment = lazyregexp.New(`^#[^\n]*`)
)

// lines returns the logical lines of a justfile without the bodies of its recipes, which are the indented
// lines. Each begins with its first word: just skips a byte order mark, and blanks if they follow the
// mark or a backslash. unreadable is the number of a line that just does not read either, 0 if there is
// none.
func lines(text string) (list []line, unreadable int) {
	r := scanner{text: text}
	for r.at < len(text) {
		body := r.skip(indent.Get()) != ""
		if r.newline() {
			continue
		}
		if !body {
			r.skip(leading.Get())
		}
		l := line{from: r.at}
		if !r.line(body) {
			return nil, 1 + strings.Count(text[:l.from], "\n")
		}
		if l.to = r.at; !body {
			list = append(list, l)
		}
	}
	return list, 0
}

func (r *scanner) newline() bool { return r.accept("\n") || r.accept("\r\n") }

// insertion begins the entry of an expression in a text, before the quote that ends the text.
const insertion = "{{"

// maxOpen is the maximum number of nested parentheses and insertions. just reads at most 255 nested
// parentheses.
const maxOpen = 1000

// line skips the rest of a logical line. It returns false if a string or a parenthesis does not end, if a
// character cannot be there, or if parentheses are nested too deeply.
func (r *scanner) line(body bool) bool {
	var open []string // parentheses and insertions, the innermost last
	if body {
		r.literal("", &open)
	}
	for r.at < len(r.text) {
		last := ""
		if len(open) > maxOpen {
			return false
		}
		if len(open) > 0 {
			last = open[len(open)-1]
		}
		if quote, inserted := strings.CutPrefix(last, insertion); inserted && r.accept("}}") {
			open = open[:len(open)-1]
			if !r.literal(quote, &open) {
				return false
			}
			continue
		}
		if r.newline() {
			if len(open) == 0 {
				return true
			}
		} else if !r.token(last, &open) {
			return false
		}
	}
	return len(open) == 0
}

// token skips a part of a line. last is the last of what is open.
func (r *scanner) token(last string, open *[]string) bool {
	c := r.text[r.at]
	begins, ends := strings.IndexByte("([{", c) >= 0, strings.IndexByte(")]}", c)
	switch {
	case begins:
		*open = append(*open, r.text[r.at:r.at+1])
		r.at++
	case ends >= 0:
		if last != "([{"[ends:ends+1] {
			return false
		}
		*open = (*open)[:len(*open)-1]
		r.at++
	case r.accept(`\`):
		return r.newline()
	case r.accept("f'"), r.accept(`f"`): // a string with insertions
		r.at--
		return r.literal(r.quote(), open)
	case r.skip(comment.Get()) != "", r.skip(word.Get()) != "":
	case c < ' ' && c != '\t' || c > '~':
		return false
	default:
		if quote := r.quote(); quote != "" {
			_, ends := r.until(quote)
			return ends
		}
		r.at++
	}
	return true
}

// literal skips a text with insertions up to its quote, or without one to the end of the line. It stops after
// the beginning of an insertion, and opens it.
func (r *scanner) literal(quote string, open *[]string) bool {
	for r.at < len(r.text) {
		switch rest := r.text[r.at:]; {
		case quote == "" && (rest[0] == '\n' || strings.HasPrefix(rest, "\r\n")):
			return true
		case r.accept("{{{{"): // stands for two
		case r.accept(insertion):
			*open = append(*open, insertion+quote)
			return true
		case quote != "" && r.accept(quote):
			return true
		case strings.HasPrefix(quote, `"`) && rest[0] == '\\':
			r.at = min(r.at+2, len(r.text))
		default:
			r.at++
		}
	}
	return quote == ""
}

// quote skips the beginning of a string or a command, and returns it.
func (r *scanner) quote() string {
	for _, quote := range []string{`"""`, "'''", "```", `"`, "'", "`"} {
		if r.accept(quote) {
			return quote
		}
	}
	return ""
}
