package justsource

import (
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

// In a justfile, a statement begins at the start of a line, or after a byte order mark.
// Whitespace is spaces, tabs, and line ends after a backslash.
var (
	keyword = lazyregexp.New(`(?m)^(?:\x{FEFF})?(import|mod)(?:[^A-Za-z0-9_-]|\z)`)
	blank   = lazyregexp.New(`^(?:[ \t]|\\\r?\n)*`)
	word    = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_-]*`)
	ending  = lazyregexp.New(`^(?:\r?\n|#|\z)`)
)

// function finds text that looks like the definition of a function.
var function = lazyregexp.New(`(?m)^(?:\x{FEFF})?([A-Za-z_][A-Za-z0-9_-]*)(?:\s|\\\r?\n)*\([^)]*\)(?:\s|\\\r?\n)*:=`)

// Functions returns the names of the functions that the sources define.
func (s *Sources) Functions() []string {
	var names []string
	for _, text := range s.texts {
		for _, found := range function.Get().FindAllStringSubmatch(text, -1) {
			names = append(names, found[1])
		}
	}
	return names
}

// interpreter finds the setting for scripts that name no interpreter, with its value.
var interpreter = lazyregexp.New(`(?m)^(?:\x{FEFF})?set[ \t]+script-interpreter[ \t]*:=[ \t]*\[([^]\r\n]*)\][ \t]*(?:#.*)?\r?$`)

// Interpreter returns the program that runs scripts that name none, with its arguments; nil if it is unknown,
// because files set several, or one of several modules sets it.
func (s *Sources) Interpreter(modules bool) []string {
	var words []string
	mentions := 0
	for _, text := range s.texts {
		mentions += strings.Count(text, "script-interpreter")
		if found := interpreter.Get().FindStringSubmatch(text); found != nil {
			r := scanner{text: found[1]}
			for r.at < len(r.text) {
				r.skip(blank.Get())
				word, ok, problem := r.quoted()
				if r.skip(blank.Get()); !ok || problem != "" || !r.accept(",") && r.at < len(r.text) {
					return nil
				}
				words = append(words, word)
			}
		}
	}
	switch {
	case mentions == 0:
		return []string{"sh", "-eu"}
	case mentions > 1 || modules:
		return nil
	}
	return words
}

// maxKeywords is the maximum number of lines of a file that begin with "import" or "mod". Each costs
// as much as the rest of the file, if it begins a string that does not end.
const maxKeywords = 1000

// statements returns the imports and modules of a justfile. It includes text that only looks like
// one, in a string of several lines: one file too many is better than one too few. It returns false if
// there are too many.
func statements(text string) ([]statement, bool) {
	found := keyword.Get().FindAllStringSubmatchIndex(text, maxKeywords+1)
	if len(found) > maxKeywords {
		return nil, false
	}
	var list []statement
	line, from := 1, 0
	for _, at := range found {
		line += strings.Count(text[from:at[2]], "\n")
		from = at[2]
		s := statement{line: line}
		r := scanner{text: text, at: at[3]}
		if r.understand(&s, text[at[2]:at[3]] == "mod") {
			list = append(list, s)
		}
	}
	return list, true
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
	return true
}

// quoted reads a string. problem explains why its value is unknown.
func (r *scanner) quoted() (value string, ok bool, problem string) {
	for _, quote := range []string{`"""`, "'''", `"`, "'"} {
		if !r.accept(quote) {
			continue
		}
		raw, ok := r.until(quote)
		if !ok {
			return "", true, "its path is an unterminated string"
		}
		if strings.ContainsAny(raw, "\r\n\x00") {
			return "", true, "its path has several lines; write it on one"
		}
		if quote[0] == '\'' {
			return raw, true, ""
		}
		value, ok := unescape(raw)
		if !ok {
			return "", true, "its path has an unknown escape; write a plain string"
		}
		return value, true, ""
	}
	return "", false, ""
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
