package search

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// The points of a word, by where it is.
const (
	isName      = 100 // it is the whole name
	beginsName  = 80
	beginsWord  = 60
	insideName  = 40
	beginsOther = 24 // a word of what belongs to the thing
	insideOther = 16
	// wholeWord is added where the word in the name ends with it.
	wholeWord = 10
	// adjacent is added if several words are adjacent in the name.
	adjacent = 20
	// covered is added for a name without other text, and less for a longer one.
	covered = 10
	// isID is for a number or a key that is the whole query.
	isID = 150
	// over is subtracted for things that are done: closed, merged.
	over = 25
)

// prior returns added to hits of a kind: of what fits as well, files are meant least.
func (k Kind) prior() int {
	if k == File {
		return 0
	}
	return 5
}

// score returns how well a thing with a name, and a text that belongs to it, fits; 0 if it
// does not. Both are folded.
func (q query) score(name, other string) int {
	sum := 0
	for _, word := range q.words {
		points := inName(name, word)
		if points == 0 {
			points = inOther(other, word)
		}
		if points == 0 {
			return 0
		}
		sum += points
	}
	return q.sum(sum, name)
}

// sum returns the score of a name for the points of the words.
func (q query) sum(points int, name string) int {
	score := points / len(q.words)
	if len(q.words) > 1 && strings.Contains(name, q.whole) {
		score += adjacent
	}
	if len(name) > 0 {
		score += covered * min(len(q.whole), len(name)) / len(name)
	}
	return score
}

// inName returns the points of a word for the best place where a name has it.
func inName(name, word string) int {
	maximum := 0
	for from := 0; ; {
		at := strings.Index(name[from:], word)
		if at < 0 {
			return maximum
		}
		at += from
		end := at + len(word)
		points := insideName
		switch {
		case len(name) == len(word):
			return isName
		case at == 0:
			points = beginsName
		case beginsAt(name, at):
			points = beginsWord
		}
		if points > insideName && endsAt(name, end) {
			points += wholeWord
		}
		if maximum = max(maximum, points); at == 0 && points > beginsName {
			return maximum
		}
		_, size := utf8.DecodeRuneInString(name[at:])
		from = at + size
	}
}

// inOther returns the points of a word in a text that belongs to a thing.
func inOther(text, word string) int {
	at := strings.Index(text, word)
	switch {
	case at < 0:
		return 0
	case beginsAt(text, at):
		return beginsOther
	}
	return insideOther
}

// beginsAt reports whether a word begins at a place in a text.
func beginsAt(text string, at int) bool {
	before, _ := utf8.DecodeLastRuneInString(text[:at])
	return at == 0 || !letter(before)
}

// endsAt reports whether a word ends before a place in a text.
func endsAt(text string, at int) bool {
	after, _ := utf8.DecodeRuneInString(text[at:])
	return at == len(text) || !letter(after)
}

func letter(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
