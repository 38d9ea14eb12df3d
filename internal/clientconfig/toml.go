package clientconfig

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// errInline is for entries that are not written as tables of their own.
var errInline = errors.New("the entry is there in a form that is not edited here; change it by hand")

// tomlEntry is the body of the table of a server.
func tomlEntry(s Server) string {
	if s.URL == "" {
		quoted := make([]string, len(s.Args))
		for i, a := range s.Args {
			quoted[i] = quote(a)
		}
		return fmt.Sprintf("command = %s\nargs = [%s]\n", quote(s.Command), strings.Join(quoted, ", "))
	}
	body := "url = " + quote(s.URL) + "\n"
	if s.Token != "" {
		body += "http_headers = { Authorization = " + quote("Bearer "+s.Token) + " }\n"
	}
	return body
}

// quote is a basic string.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < ' ' || r == 0x7f:
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// bareKey needs no quotes.
var bareKey = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_-]+$`) })

func keyText(name string) string {
	if bareKey().MatchString(name) {
		return name
	}
	return quote(name)
}

// span is a table with what belongs to it, from its header to the next one.
type span struct{ from, to int }

// tables finds the tables of key.name and below; inline says that the entry is written
// in another way.
func tables(text []byte, key, name string) (found []span, inline bool, err error) {
	if err := checkNesting(text, true); err != nil {
		return nil, false, err
	}
	if err := toml.Unmarshal(text, &map[string]any{}); err != nil {
		return nil, false, fmt.Errorf("it is not TOML: %w", err)
	}
	var p unstable.Parser
	p.Reset(text)
	var headers []int // where tables begin
	var ours []bool
	var table []string
	for p.NextExpression() {
		e := p.Expression()
		var path []string
		first := -1
		for it := e.Key(); it.Next(); {
			node := it.Node()
			path = append(path, string(node.Data))
			if first < 0 {
				first = int(node.Raw.Offset)
			}
		}
		switch e.Kind {
		case unstable.Table, unstable.ArrayTable:
			table = path
			start := bytes.LastIndexByte(text[:first], '\n') + 1
			headers, ours = append(headers, start), append(ours, len(path) >= 2 && path[0] == key && path[1] == name)
		case unstable.KeyValue:
			if full := append(append([]string{}, table...), path...); len(table) < 2 && len(full) >= 2 && full[0] == key && full[1] == name {
				inline = true
			}
		default:
		}
	}
	if err := p.Error(); err != nil {
		return nil, false, fmt.Errorf("it is not TOML: %w", err)
	}
	for i, from := range headers {
		if !ours[i] {
			continue
		}
		to := len(text)
		if i+1 < len(headers) {
			to = headers[i+1]
		}
		// Comments right before the next table are that one's.
		found = append(found, span{from, beforeComments(text, from, to)})
	}
	return found, inline, nil
}

// beforeComments is the end of what belongs to a table: after its last line that is
// neither empty nor a comment.
func beforeComments(text []byte, from, to int) int {
	end := from
	at := from
	for line := range bytes.Lines(text[from:to]) {
		at += len(line)
		if trimmed := bytes.TrimSpace(line); len(trimmed) > 0 && trimmed[0] != '#' {
			end = at
		}
	}
	return end
}

// setTOML puts the table of an entry at the end, or in the place of the one there is.
func setTOML(text []byte, key, name, body string) ([]byte, error) {
	found, inline, err := tables(text, key, name)
	if err != nil {
		return nil, err
	}
	if inline {
		return nil, errInline
	}
	newline := "\n"
	if bytes.Contains(text, []byte("\r\n")) {
		newline = "\r\n"
	}
	table := strings.ReplaceAll("["+key+"."+keyText(name)+"]\n"+body, "\n", newline)
	if len(found) > 0 {
		var now, then map[string]map[string]map[string]any
		if toml.Unmarshal(joined(text, found), &now) == nil && toml.Unmarshal([]byte(table), &then) == nil && within(then[key][name], now[key][name]) {
			return text, nil
		}
		rest := append([]byte{}, text[:found[0].from]...)
		rest = append(rest, table...)
		return append(rest, without(text[found[0].to:], found[1:], found[0].to)...), nil
	}
	out := bytes.Clone(text)
	if len(out) > 0 {
		if out[len(out)-1] != '\n' {
			out = append(out, newline...)
		}
		if !bytes.HasSuffix(out, []byte(newline+newline)) {
			out = append(out, newline...)
		}
	}
	return append(out, table...), nil
}

// removeTOML takes the tables of an entry out, with the empty line before them.
func removeTOML(text []byte, key, name string) ([]byte, error) {
	found, inline, err := tables(text, key, name)
	if err != nil {
		return nil, err
	}
	if inline {
		return nil, errInline
	}
	for i := range found {
		before := text[:found[i].from]
		for _, newline := range []string{"\r\n", "\n"} {
			if bytes.HasSuffix(before, []byte(newline+newline)) {
				found[i].from -= len(newline)
				break
			}
		}
	}
	return without(text, found, 0), nil
}

// joined are the tables alone.
func joined(text []byte, spans []span) []byte {
	var out []byte
	for _, s := range spans {
		out = append(out, text[s.from:s.to]...)
	}
	return out
}

// without is text, which begins at an offset, without some spans.
func without(text []byte, spans []span, offset int) []byte {
	out, at := []byte{}, 0
	for _, s := range spans {
		out = append(out, text[at:s.from-offset]...)
		at = s.to - offset
	}
	return append(out, text[at:]...)
}
