// Package change shows how copse changes a client's file, and nothing else of that: the entries of other
// servers contain their keys.
package change

import (
	"bytes"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/lazyregexp"
	"github.com/copse-dev/copse/internal/secret"
)

// Of returns the words of JSON or TOML that differ between two contents of a file, in lines that begin with "-" and
// "+". "…" is in place of the words before them in such a line, of comments, which can contain entries, of tokens, and of
// the logins in addresses.
func Of(before, after []byte) []byte {
	var out strings.Builder
	var was, is strings.Builder
	show := func() {
		words(&out, was.String(), is.String())
		was.Reset()
		is.Reset()
	}
	for op, line := range operations(joined(before), joined(after)) {
		switch op {
		case '-':
			was.WriteString(line)
		case '+':
			is.WriteString(line)
		default:
			show()
		}
	}
	show()
	text := secret.WithoutLogins(secret.WithoutNamed(secret.WithoutBearers(out.String())))
	return []byte(cleantext.Block(text))
}

// operations yields the lines of a difference with what happens to them: '-', '+', ' ', or '@' in place of several
// that do not change.
func operations(before, after []byte) func(yield func(op byte, line string) bool) {
	return func(yield func(op byte, line string) bool) {
		head := true // names of files
		for line := range strings.Lines(string(diff.Diff("", before, "", after))) {
			if head = head && line[0] != '@'; head || line[0] == '\\' || strings.HasPrefix(line, "@@ -0,0 ") || strings.HasPrefix(line, "@@ -1,") {
				continue
			}
			if !yield(line[0], line[1:]) {
				return
			}
		}
	}
}

// word matches a comment, or a value of JSON or TOML with its key, punctuation, or what is in between. A comment, and a
// string in three quotation marks, can have several lines. One without an end continues to that of the text.
var word = lazyregexp.New(`/\*(?s:.*?)(?:\*/|\z)|//[^\n]*|#[^\n]*|` +
	`(?:(?:` + single + `|[\w.-]+)[ \t]*[:=][ \t]*)?` +
	`(?:"""(?s:[^\\]|\\.)*?(?:"{3,5}|\z)|'''(?s:.*?)(?:'{3,5}|\z)|` + single + `|[\[{])|` +
	`[\]},\n]|[^"'/#\[\]{},\n]+|["'/]`)

// single matches a string on one line.
const single = `(?:"(?:[^"\\\n]|\\.)*"|'[^'\n]*')`

// lineBreak is a line break as a word, and in one. It ends no line of a difference.
const lineBreak = "\r"

// joined returns a text in which each word is on one line.
func joined(text []byte) []byte {
	return word.Get().ReplaceAllFunc(text, func(w []byte) []byte {
		if len(w) == 1 {
			return w
		}
		return bytes.ReplaceAll(w, []byte("\n"), []byte(lineBreak))
	})
}

// words writes what differs between two texts.
func words(out *strings.Builder, was, is string) {
	split := func(text string) []byte {
		var lines bytes.Buffer
		for _, w := range word.Get().FindAllString(text, -1) {
			lines.WriteString(strings.ReplaceAll(w, "\n", lineBreak) + "\n")
		}
		return lines.Bytes()
	}
	before, after := split(was), split(is)
	for _, side := range []byte("-+") {
		r := row{sign: side, out: out}
		for op, text := range operations(before, after) {
			switch text = strings.TrimSuffix(text, "\n"); {
			case op == '@':
				r.end()
				r.skipped = "…"
			case op != ' ' && op != side:
			case text != lineBreak:
				r.add(text, op == side && !comment(text))
			default:
				r.end()
			}
		}
		r.end()
	}
}

// comment reports whether a word is a comment. copse writes none.
func comment(word string) bool { return strings.IndexAny(word, "#/") == 0 }

// row is a line of one side of a change.
type row struct {
	sign          byte
	out           *strings.Builder
	line, skipped string
}

// add adds a word.
func (r *row) add(text string, changed bool) {
	switch {
	case changed:
		r.line, r.skipped = r.line+r.skipped+text, ""
	case strings.Trim(text, " \t,[]{}") != "":
		r.skipped = blank(r.skipped) + "…"
	case !strings.HasSuffix(r.skipped, "…"):
		r.skipped += text
	}
}

// blank returns the blanks at the beginning of a text.
func blank(text string) string { return text[:len(text)-len(strings.TrimLeft(text, " \t"))] }

// end writes the row if more than a comma has changed, and begins the next one.
func (r *row) end() {
	if strings.Trim(r.line, " \t,…") != "" {
		if strings.HasSuffix(r.skipped, "…") {
			r.line += r.skipped
		}
		r.out.WriteString(string(r.sign) + strings.TrimRight(r.line, lineBreak) + "\n")
	}
	r.line, r.skipped = "", ""
}
