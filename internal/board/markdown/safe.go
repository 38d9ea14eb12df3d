package markdown

import (
	"bytes"
	"html/template"
	"net/url"
	"strconv"
	"strings"

	"github.com/yuin/goldmark/util"

	"github.com/copse-dev/copse/internal/cleantext"
)

// tag is HTML of this package. Only constants are converted to it.
type tag string

func (w *writer) tag(t tag) { w.out.WriteString(string(t)) }

func (w *writer) number(n int) { w.out.WriteString(strconv.Itoa(n)) }

// raw writes foreign text unchanged. All foreign text passes here.
func (w *writer) raw(s []byte) { template.HTMLEscape(&w.out, s) }

// unescaped writes foreign text without the backslashes that escape, and with the characters
// that references such as &amp; stand for.
func (w *writer) unescaped(s []byte) {
	const longest = 40 // a reference
	for len(s) > 0 {
		i := bytes.IndexAny(s, `\&`)
		if i < 0 {
			break
		}
		w.raw(s[:i])
		s = s[i:]
		end := 1
		switch {
		case s[0] == '&':
			if semicolon := bytes.IndexByte(s[:min(len(s), longest)], ';'); semicolon > 0 {
				end = semicolon + 1
			}
			// The text was clean with the reference in place of the character.
			w.raw([]byte(strings.Map(visible, string(resolved(s[:end])))))
		case len(s) > 1 && util.IsPunct(s[1]):
			end = 2
			w.raw(s[1:2])
		default:
			w.raw(s[:1])
		}
		s = s[end:]
	}
	w.raw(s)
}

// resolved returns the character that a reference such as &amp; is for.
func resolved(reference []byte) []byte {
	if named := util.ResolveEntityNames(reference); !bytes.Equal(named, reference) {
		return named
	}
	return util.ResolveNumericReferences(reference)
}

// visible returns a character, or -1 if it is an invisible one.
func visible(r rune) rune {
	if cleantext.Invisible(r) {
		return -1
	}
	return r
}

// link writes a link around the output of a function, or only the output if there is no address or
// the place is inside a link.
func (w *writer) link(to string, text func()) {
	if to == "" || w.linked {
		text()
		return
	}
	w.tag(`<a href="`)
	w.raw([]byte(to))
	w.tag(`" rel="nofollow noreferrer noopener" target="_blank">`)
	w.linked = true
	text()
	w.linked = false
	w.tag("</a>")
}

// address returns the destination of a link if it is a complete web or mail address in
// printable ASCII and without a login, which could look like the host, else "". A destination in Markdown can contain references and backslashes.
func address(destination []byte, references bool) string {
	to := string(util.URLEscape(destination, references))
	for _, c := range []byte(to) {
		if c <= ' ' || c > '~' || strings.IndexByte("\"'<>\\^`{|}", c) >= 0 {
			return ""
		}
	}
	u, err := url.Parse(to)
	if err != nil {
		return ""
	}
	switch u.Scheme {
	case "http", "https":
		if u.Host == "" || u.Opaque != "" || u.User != nil {
			return ""
		}
	case "mailto":
		if u.Opaque == "" {
			return ""
		}
	default:
		return ""
	}
	return u.String()
}
