package gitconfig

import "strings"

// matchPath matches the path-like text against a pattern in which "*" and "?" stay within one part,
// and a part "**" matches any number of parts (at the end: at least one). The caller handles other
// wildcards.
func matchPath(pattern, text string, foldCase bool) bool {
	if foldCase {
		pattern, text = asciiLower(pattern), asciiLower(text)
	}
	parts := strings.Split(pattern, "/")
	if isDoubleStar(parts[len(parts)-1]) {
		parts = append(parts, "*")
	}
	return matchStars(parts, strings.Split(text, "/"), isDoubleStar, matchPart)
}

func matchPart(pattern, text string) bool {
	return matchStars([]byte(pattern), []byte(text),
		func(p byte) bool { return p == '*' },
		func(p, c byte) bool { return p == '?' || p == c })
}

// matchStars matches text against pattern, in which a star matches any number of elements and every
// other element one. After a mismatch, it is enough to let the last star match one more.
func matchStars[T any](pattern, text []T, isStar func(T) bool, matches func(p, t T) bool) bool {
	p, t := 0, 0
	star, taken := -1, 0
	for t < len(text) {
		switch {
		case p < len(pattern) && isStar(pattern[p]):
			star, taken = p, t
			p++
		case p < len(pattern) && matches(pattern[p], text[t]):
			p++
			t++
		case star >= 0:
			taken++
			p, t = star+1, taken
		default:
			return false
		}
	}
	for p < len(pattern) && isStar(pattern[p]) {
		p++
	}
	return p == len(pattern)
}

func isDoubleStar(part string) bool {
	return len(part) > 1 && strings.Trim(part, "*") == ""
}

func asciiLower(s string) string {
	b := []byte(s)
	for i, c := range b {
		b[i] = lower(c)
	}
	return string(b)
}
