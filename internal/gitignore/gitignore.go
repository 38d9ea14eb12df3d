// Package gitignore decides what git ignores, by the rules of gitignore(5).
//
// [Parse] the text of a file of patterns, and stack the files into [Rules]: those of the user and
// of the repository first, then for each directory on the way down its own .gitignore, with
// [Rules.Below]. [Rules.Ignored] then decides for the entries of that directory. It guarantees that
//
//   - the answer is the same as that of git check-ignore, which tests compare: the last
//     pattern that matches in the nearest file decides. A pattern cannot re-include a
//     file below an ignored directory; the caller ensures this by not descending;
//   - the time of an answer grows with the length of name and pattern, not with a power of
//     it: a pattern that would take forever ignores nothing;
//   - any text is a valid file of patterns; a pattern that git cannot match matches nothing;
//   - a file has at most [MaxPatterns] patterns, and an [Effort] limits the total cost of all
//     answers of a caller.
//
// The package does not know whether git tracks a file, and therefore does not ignore
// it. Rules and Patterns are immutable and safe for concurrent use.
package gitignore

import "strings"

// Rules are the patterns that apply in one directory. The zero value has none.
type Rules struct {
	parent    *Rules
	patterns  *Patterns
	base      string // the directory that patterns are relative to, "" for the root
	directory string // the directory of the rules
	fold      bool
	effort    *Effort
}

// New returns the rules of the root before its own .gitignore: the weakest patterns first, which
// are the user's, then the repository's info/exclude. Fold makes patterns case-insensitive, as
// core.ignoreCase does.
func New(fold bool, weakest ...*Patterns) Rules {
	rules := Rules{fold: fold}
	for _, p := range weakest {
		rules = rules.with(p)
	}
	return rules
}

// Within returns the rules with a limit on the cost of their answers, and of the answers of all
// rules derived from them.
func (r Rules) Within(e *Effort) Rules {
	r.effort = e
	return r
}

// With adds the .gitignore of the directory of the rules; nil adds none.
func (r Rules) With(p *Patterns) Rules { return r.with(p) }

func (r Rules) with(p *Patterns) Rules {
	if p == nil || len(p.all) == 0 || !r.effort.take(len(p.all)) {
		return r
	}
	parent := r
	return Rules{parent: &parent, patterns: p, base: r.directory, directory: r.directory, fold: r.fold, effort: r.effort}
}

// Below returns the rules for the directory name inside the current one, before its own .gitignore.
func (r Rules) Below(name string) Rules {
	if r.directory != "" {
		name = r.directory + "/" + name
	}
	r.directory = name
	return r
}

// Ignored reports whether git ignores the entry name of the directory, unless it tracks it. A
// symbolic link is not a directory, wherever it leads.
func (r Rules) Ignored(name string, directory bool) bool {
	path := name
	if r.directory != "" {
		path = r.directory + "/" + name
	}
	for rules := &r; rules != nil; rules = rules.parent {
		if rules.patterns == nil {
			continue
		}
		below := path
		if rules.base != "" {
			below = path[len(rules.base)+1:]
		}
		ignored, decided := rules.patterns.match(below, name, directory, r.fold, r.effort)
		if r.effort.Spent() {
			return false
		}
		if decided {
			return ignored
		}
	}
	return false
}

// Patterns are those of one file.
type Patterns struct {
	all      []pattern
	names    map[string][]int // patterns that are the name of an entry, in lower case
	endings  []int            // patterns that are * and an ending
	relative []int            // all others
	cut      bool
}

// Len returns the number of patterns.
func (p *Patterns) Len() int { return len(p.all) }

// Cut reports whether the file has more than [MaxPatterns]. Patterns beyond that have no effect.
func (p *Patterns) Cut() bool { return p.cut }

// literalStep is the number of bytes compared in the time of one step.
const literalStep = 16

// match finds the last pattern that matches.
func (p *Patterns) match(path, name string, directory, fold bool, effort *Effort) (ignored, decided bool) {
	last := -1
	consider := func(indices []int, matches func(*pattern) bool) {
		for i := len(indices) - 1; i >= 0 && indices[i] > last && !effort.Spent(); i-- {
			one := &p.all[indices[i]]
			effort.step(1 + len(one.text)/literalStep)
			if (directory || !one.dirOnly) && matches(one) {
				last = indices[i]
			}
		}
	}
	if len(p.names) > 0 {
		consider(p.names[lower(name)], func(one *pattern) bool { return same(one.text, name, fold) })
	}
	consider(p.endings, func(one *pattern) bool { return ends(name, one.text[1:], fold) })
	consider(p.relative, func(one *pattern) bool { return one.match(path, name, fold, effort) })
	if last < 0 {
		return false, false
	}
	return !p.all[last].negative, true
}

func same(a, b string, fold bool) bool { return a == b || fold && lower(a) == lower(b) }

func ends(name, ending string, fold bool) bool {
	return len(name) >= len(ending) && same(name[len(name)-len(ending):], ending, fold)
}

// lower returns s with its ASCII letters in lower case: git folds no others.
func lower(s string) string {
	for i := range len(s) {
		if 'A' <= s[i] && s[i] <= 'Z' {
			return strings.Map(func(r rune) rune {
				if 'A' <= r && r <= 'Z' {
					return r | 0x20
				}
				return r
			}, s)
		}
	}
	return s
}
