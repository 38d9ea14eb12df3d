package justsource

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/copse-dev/copse/internal/lazyregexp"
)

// statement is an import or a module in a justfile.
type statement struct {
	module   string // its name; "" for an import
	optional bool
	path     string // as just reads the text; "" for a module without one
	line     int    // from 1
	// from and to are the position of the path, with its quotes.
	from, to int
	// problem explains why the path is unknown.
	problem string
}

// Whitespace is spaces, tabs, and line ends after a backslash.
var (
	keyword = lazyregexp.New(`^(import|mod)(?:[^A-Za-z0-9_-]|\z)`)
	blank   = lazyregexp.New(`^(?:[ \t]|\\\r?\n)*`)
	word    = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_-]*`)
	ending  = lazyregexp.New(`^(?:\r?\n|#|\z)`)
)

// function finds the definition of a function. Line ends are whitespace between its parentheses.
var function = lazyregexp.New(`^([A-Za-z_][A-Za-z0-9_-]*)(?:\s|\\\r?\n)*\([^)]*\)(?:\s|\\\r?\n)*:=`)

// Functions returns the names of the functions that the sources define.
func (s *Sources) Functions() []string { return s.found(function.Get()) }

// found returns the first group of an expression in each logical line that has it.
func (s *Sources) found(pattern *regexp.Regexp) (found []string) {
	for _, text := range s.texts {
		list, _ := lines(text) // add has refused the others
		for _, l := range list {
			if groups := pattern.FindStringSubmatch(text[l.from:l.to]); groups != nil {
				found = append(found, groups[1])
			}
		}
	}
	return found
}

// interpreter finds the setting for scripts that name no interpreter, with its value.
var interpreter = lazyregexp.New(`^set[ \t]+script-interpreter[ \t]*:=[ \t]*\[([^]\r\n]*)\][ \t]*(?:#.*)?\r?\n?$`)

// Interpreter returns the program that runs scripts that name none, with its arguments; nil if it is unknown,
// because files set several, or one of several modules sets it.
func (s *Sources) Interpreter(modules bool) []string {
	mentions := 0
	for _, text := range s.texts {
		mentions += strings.Count(text, "script-interpreter")
	}
	switch {
	case mentions == 0:
		return []string{"sh", "-eu"}
	case mentions > 1 || modules:
		return nil
	}
	var words []string
	for _, list := range s.found(interpreter.Get()) {
		r := scanner{text: list}
		for r.at < len(r.text) {
			r.skip(blank.Get())
			word, ok, problem := r.quoted()
			if r.skip(blank.Get()); !ok || problem != "" || !r.accept(",") && r.at < len(r.text) {
				return nil
			}
			words = append(words, word)
		}
	}
	return words
}

// maxKeywords is the maximum number of lines of a file that begin with "import" or "mod". Each can
// name several files, for which copse looks.
const maxKeywords = 1000

// statements returns the imports and modules of a justfile, or what is wrong with the file.
func statements(text string) (list []statement, problem string) {
	all, unreadable := lines(text)
	if unreadable > 0 {
		return nil, fmt.Sprintf("line %d: it cannot be read; end each string and parenthesis, and write only spaces and tabs as whitespace", unreadable)
	}
	keywords, number, from := 0, 1, 0
	for _, l := range all {
		number += strings.Count(text[from:l.from], "\n")
		from = l.from
		found := keyword.Get().FindStringSubmatch(text[l.from:l.to])
		if found == nil {
			continue
		}
		if keywords++; keywords > maxKeywords {
			return nil, fmt.Sprintf("it has more than %d lines that begin with \"import\" or \"mod\"", maxKeywords)
		}
		s := statement{line: number}
		r := scanner{text: text[:l.to], at: l.from + len(found[1])}
		if r.understand(&s, found[1] == "mod") {
			list = append(list, s)
		}
	}
	return list, ""
}

// scanner reads the words of one statement.
type scanner struct {
	text string
	at   int
}

func (r *scanner) skip(pattern *regexp.Regexp) string {
	found := pattern.FindString(r.text[r.at:])
	r.at += len(found)
	return found
}

func (r *scanner) accept(prefix string) bool {
	if !strings.HasPrefix(r.text[r.at:], prefix) {
		return false
	}
	r.at += len(prefix)
	return true
}

// understand reads the statement after its keyword. It returns false for a recipe or a variable
// with the name of the keyword.
func (r *scanner) understand(s *statement, module bool) bool {
	r.skip(blank.Get())
	s.optional = r.accept("?")
	r.skip(blank.Get())
	if module {
		if s.module = r.skip(word.Get()); s.module == "" {
			return false
		}
		r.skip(blank.Get())
		if ending.Get().MatchString(r.text[r.at:]) {
			return true
		}
	}
	s.from = r.at
	if prefix := r.skip(word.Get()); prefix != "" {
		r.skip(blank.Get())
		s.problem = "its path is a string with a prefix, which depends on the environment; write a plain string"
	}
	path, ok, problem := r.quoted()
	if !ok {
		return s.optional && !module // just reports it
	}
	if s.path, s.to = path, r.at; s.problem == "" {
		s.problem = problem
	}
	// A copy of the justfile has the path of a copy in its place, between single quotation marks.
	if s.problem == "" && strings.ContainsFunc(path, func(c rune) bool { return c == '\'' || c < ' ' || c == 0x7f }) {
		s.problem = "its path has a quotation mark or a control character; rename the file"
	}
	return true
}

// quoted reads a string. problem explains why its value is unknown.
func (r *scanner) quoted() (value string, ok bool, problem string) {
	quote := r.quote()
	if quote == "" || quote[0] == '`' {
		return "", false, ""
	}
	raw, ok := r.until(quote)
	switch {
	case !ok:
		return "", true, "its path is an unterminated string"
	case strings.ContainsAny(raw, "\r\n\x00"):
		return "", true, "its path has several lines; write it on one"
	case len(quote) > 1 && raw != strings.TrimSpace(raw):
		return "", true, "its path begins or ends with blanks, which just removes; write it without them"
	case quote[0] == '\'':
		return raw, true, ""
	}
	if value, ok = unescape(raw); !ok {
		return "", true, "its path has an unknown escape; write a plain string"
	}
	return value, true, ""
}

// until returns the text before the end of a string.
func (r *scanner) until(quote string) (string, bool) {
	start := r.at
	for r.at < len(r.text) {
		switch {
		case r.accept(quote):
			return r.text[start : r.at-len(quote)], true
		case quote[0] == '"' && r.text[r.at] == '\\':
			r.at += 2
		default:
			r.at++
		}
	}
	r.at = len(r.text)
	return "", false
}

// unescape returns what the text of a string in double quotes stands for.
func unescape(raw string) (string, bool) {
	var b strings.Builder
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' {
			b.WriteByte(raw[i])
			continue
		}
		i++
		if i == len(raw) {
			return "", false
		}
		switch c := raw[i]; c {
		case '\\', '"':
			b.WriteByte(c)
		case 't':
			b.WriteByte('\t')
		case 'u':
			digits, ok := strings.CutPrefix(raw[i+1:], "{")
			hex, _, closed := strings.Cut(digits, "}")
			code, err := strconv.ParseUint(hex, 16, 21)
			if !ok || !closed || err != nil || code == 0 || code > 0x10ffff {
				return "", false
			}
			b.WriteRune(rune(code))
			i += len(hex) + 2
		default: // a line break is not part of a path
			return "", false
		}
	}
	return b.String(), true
}
