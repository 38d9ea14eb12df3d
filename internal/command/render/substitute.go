package render

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/copse-dev/copse/internal/distinct"
	"github.com/copse-dev/copse/internal/lazyregexp"
)

// The three forms of a variable, in the order of the search.
var (
	doubleForm = lazyregexp.New(`\{\{([^}]+)\}\}`)
	dollarForm = lazyregexp.New(`\$\{([^}]+)\}`)
	plainForm  = lazyregexp.New(`\{([^{}]+)\}`)
)

func forms() []*regexp.Regexp {
	return []*regexp.Regexp{doubleForm.Get(), dollarForm.Get(), plainForm.Get()}
}

// space is white space of the original's language.
const space = `[\t\n\v\f\r \x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}]`

// frontMatter is the first pair of lines of three dashes, and the text between them.
var frontMatter = lazyregexp.New(`(?m)^---` + space + `*$[\s\S]*?^---` + space + `*$`)

// mark encloses the number of a value that is inserted at the end. No template has this byte, which
// never occurs in UTF-8. The search for variables and front matter therefore finds no value, and no
// text is mistaken for a mark.
const mark = "\xff"

// substitute replaces variables with values, and removes the front matter. It searches the whole
// text for one form after the other, as the original does, but not in values: a value is not a
// template.
func substitute(template string, values map[string]string) (Result, error) {
	s := substitution{values: values, numbers: map[string]int{}}
	text := template
	for _, form := range forms() {
		text = s.replace(form, text)
	}
	if at := frontMatter.Get().FindStringIndex(text); at != nil {
		text = text[:at[0]] + text[at[1]:]
	}
	prompt, err := s.fill(text)
	if err != nil {
		return Result{}, err
	}
	prompt = strings.TrimLeftFunc(prompt, isSpace)
	if !strings.HasSuffix(prompt, "\n") {
		prompt += "\n"
	}
	return Result{Prompt: prompt, Missing: missing(text), Unused: s.unused()}, nil
}

// substitution maps marks to values.
type substitution struct {
	values  map[string]string
	numbers map[string]int // by name
	names   []string       // by number
}

// unused returns the values that the caller chose names for, and that no variable took.
func (s *substitution) unused() []string {
	var names []string
	for name := range s.values {
		if _, used := s.numbers[name]; !used && strings.HasPrefix(name, "uv-") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// replace puts marks in place of the variables of one form.
func (s *substitution) replace(form *regexp.Regexp, text string) string {
	var b strings.Builder
	rest := 0
	for _, at := range form.FindAllStringSubmatchIndex(text, -1) {
		name := trim(text[at[2]:at[3]])
		if _, known := s.values[name]; !known {
			continue
		}
		number, ok := s.numbers[name]
		if !ok {
			number = len(s.names)
			s.numbers[name] = number
			s.names = append(s.names, name)
		}
		b.WriteString(text[rest:at[0]] + mark + strconv.Itoa(number) + mark)
		rest = at[1]
	}
	b.WriteString(text[rest:])
	return b.String()
}

// fill puts values in place of marks.
func (s *substitution) fill(text string) (string, error) {
	parts := strings.Split(text, mark) // every second one is a number
	size := 0
	for i, part := range parts {
		if i%2 == 1 {
			if number, err := strconv.Atoi(part); err == nil {
				parts[i] = s.values[s.names[number]]
			}
		}
		size += len(parts[i])
	}
	if size > MaxPrompt {
		return "", refuse("The prompt would have %d bytes; the limit is %d: the template repeats a long value", size, MaxPrompt)
	}
	return strings.Join(parts, ""), nil
}

// variableName is a name that only a variable has.
var variableName = lazyregexp.New(`^(uv-[a-zA-Z][a-zA-Z0-9_-]*|input_text|input_text_file|destination_path)$`)

// maxMissing is the maximum number of names of variables without a value, and maxNames their size in
// bytes: a template can have a hundred thousand.
const (
	maxMissing = 100
	maxNames   = 4 << 10
)

// missing returns the variables that are still in a text. The last value is "…" if there are too many.
func missing(text string) []string {
	var names distinct.List[string]
	size := 0
	for _, at := range plainForm.Get().FindAllStringSubmatchIndex(text, -1) {
		name := trim(text[at[2]:at[3]])
		if names.Has(name) || !variableName.Get().MatchString(name) {
			continue
		}
		if size += len(name); len(names.Values()) == maxMissing || size > maxNames {
			return append(names.Values(), "…")
		}
		names.Add(name)
	}
	return names.Values()
}
