package ranking

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/kljensen/snowball/english"
)

// A text has words: runs of letters, digits and marks, which hyphens, underscores
// and apostrophes hold together. Their tokens are
//
//   - of an English word, its stem in lower case: "Commits" gives "commit";
//   - of a compound with hyphens, underscores or camelCase humps, those of its
//     parts and that of the whole written as one word: "code-reviews",
//     "code_reviews" and "codeReviews" all give "code", "review" and "codereview",
//     and so are found by "code review" as well as by "codereview". "PRs" is
//     "pr" and "prs";
//   - of a run of Han, Hiragana, Katakana or Hangul, its overlapping pairs of
//     characters; a single one is a token itself. A run ends where the script
//     changes, so that 見直す and 見直し have 見直 in common, and コミットを has the
//     pairs of コミット and を;
//   - of words in other scripts, themselves in lower case.
//
// Full-width forms of ASCII characters are the ASCII characters; Unicode is not
// normalized otherwise. There is no list of words to leave out: what most texts
// have weighs little.
func tokens(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for word := range words(text) {
			for token := range tokensOf(word) {
				if !yield(token) {
					return
				}
			}
		}
	}
}

// words yields the words of a text as they are written.
func words(text string) iter.Seq[string] {
	return strings.FieldsFuncSeq(strings.Map(fold, text), func(r rune) bool {
		return r != '-' && r != '_' && r != '\'' && !isLetter(r)
	})
}

func isLetter(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
	}
	return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r)
}

// fold maps characters with the same meaning to one character.
func fold(r rune) rune {
	switch {
	case r < utf8.RuneSelf:
		return r
	case '\uFF01' <= r && r <= '\uFF5E': // full-width ! to ~
		return r - '\uFF01' + '!'
	case r == '\u2010' || r == '\u2011': // hyphens
		return '-'
	case r == '\u2019': // apostrophe
		return '\''
	}
	return r
}

// tokensOf yields the tokens of a word.
func tokensOf(word string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for word != "" {
			end, how := run(word)
			emit := yieldPairs
			if how == spaced {
				emit = yieldStems
			}
			if !emit(word[:end], yield) {
				return
			}
			word = word[end:]
		}
	}
}

// writing is how a script is written: with spaces between words, or as one of the other kinds.
type writing int

const (
	spaced writing = iota
	han
	hiragana
	katakana
	hangul
	asBefore // whatever the previous character is
)

func writingOf(r rune) writing {
	switch {
	case r < '\u0300':
		return spaced
	case unicode.IsMark(r) || r == 'ー': // the mark of a long vowel has no script
		return asBefore
	case unicode.Is(unicode.Han, r) || r == '〆':
		return han
	case unicode.Is(unicode.Hiragana, r):
		return hiragana
	case unicode.Is(unicode.Katakana, r):
		return katakana
	case unicode.Is(unicode.Hangul, r):
		return hangul
	}
	return spaced
}

// run returns the end of the first run in a word, and its kind of writing.
func run(word string) (end int, how writing) {
	how = asBefore
	for i, r := range word {
		switch next := writingOf(r); {
		case next == asBefore || next == how:
		case how == asBefore:
			how = next
		default:
			return i, how
		}
	}
	return len(word), how
}

// yieldPairs yields the overlapping pairs of a run, or its only character.
func yieldPairs(run string, yield func(string) bool) bool {
	first, second := 0, -1 // the soft hyphen is the only invisible one
	for i := range run {
		if second > 0 {
			if !yield(run[first:i]) {
				return false
			}
			first = second
		}
		if i > 0 {
			second = i
		}
	}
	return yield(run[first:])
}

// yieldStems yields the stems of a word's parts, and of the whole if it is a
// compound.
func yieldStems(word string, yield func(string) bool) bool {
	word = strings.Trim(word, "-_'")
	compound := false
	for part := range strings.FieldsFuncSeq(word, isJoint) {
		for part != "" {
			end, next := camelWord(part)
			compound = compound || end < len(word)
			// Apostrophes alone have no stem.
			if token := stem(part[:end]); token != "" && !yield(token) {
				return false
			}
			part = part[next:]
		}
	}
	return !compound || yield(stem(strings.Map(withoutJoint, word)))
}

func withoutJoint(r rune) rune {
	if isJoint(r) {
		return -1
	}
	return r
}

func isJoint(r rune) bool { return r == '-' || r == '_' }

// camelWord returns the end of the first word of a part in camel case, and the start of the next, which differ only
// for the s of several acronyms: "PRs".
func camelWord(part string) (end, next int) {
	capitals := 0 // before r
	var before rune
	for i, r := range part {
		if i > 0 && unicode.IsUpper(r) {
			rest := part[i+utf8.RuneLen(r):]
			second, _ := utf8.DecodeRuneInString(rest)
			switch {
			case unicode.IsLower(before),
				rest != "s" && unicode.IsLower(second): // "HTTPServer", "utf8Decoder", but not "E2E"
				return i, i
			}
		}
		if r == 's' && capitals > 1 && i == len(part)-1 {
			return i, i + 1
		}
		if unicode.IsUpper(r) {
			capitals++
		} else {
			capitals = 0
		}
		before = r
	}
	return len(part), len(part)
}

// stem returns the stem of an English word; of other words, the word in lower case.
func stem(word string) string {
	const longest = 64 // of a word that someone has written
	word = strings.ToLower(word)
	if len(word) > longest || strings.IndexFunc(word, isForeign) >= 0 {
		return word
	}
	return english.Stem(word, false)
}

// isForeign reports whether a character occurs in no English word.
func isForeign(r rune) bool { return r > unicode.MaxLatin1 }
