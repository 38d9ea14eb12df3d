// Package suggest finds the name of a command or a flag that a person meant: names that a slip of
// the keyboard separates from the word, and flags that other programs name differently.
package suggest

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Near returns the names that are most like a word: those with the fewest slips of the keyboard, or
// else those that begin with the word. It returns nil if no name is like the word. Case does not
// matter.
func Near(word string, names []string) []string {
	word = strings.ToLower(word)
	var near, longer []string
	fewest := allowed(word)
	for _, name := range names {
		n := slips(word, strings.ToLower(name))
		if n < fewest {
			near, fewest = nil, n
		}
		switch {
		case n == fewest:
			near = append(near, name)
		case word != "" && strings.HasPrefix(strings.ToLower(name), word):
			longer = append(longer, name)
		}
	}
	if len(near) > 0 {
		return near
	}
	return longer
}

// allowed returns how many slips a word can have. With two of five letters wrong, it is another
// word: "stats" is not "start".
func allowed(word string) int {
	if utf8.RuneCountInString(word) <= len("stats") {
		return 1
	}
	return 2
}

// slips returns how many slips separate two words: a missing letter, another letter, one too many,
// or two neighbors in the wrong order.
func slips(a, b string) int {
	from, to := []rune(a), []rune(b)
	if len(from)-len(to) > 2 || len(to)-len(from) > 2 {
		return max(len(from), len(to)) // more than is allowed
	}
	rows := make([][]int, len(from)+1)
	for i := range rows {
		rows[i] = make([]int, len(to)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(from); i++ {
		for j := 1; j <= len(to); j++ {
			wrong := 1
			if from[i-1] == to[j-1] {
				wrong = 0
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+wrong)
			if i > 1 && j > 1 && from[i-1] == to[j-2] && from[i-2] == to[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(from)][len(to)]
}

// Flag returns the flag of a command that a person meant by name, a flag of one letter or more: the
// one with a similar name, or else the one that does what the flag does in other programs. It
// returns "" if the command has none.
func Flag(name string, flags []string) string {
	if utf8.RuneCountInString(name) > 1 {
		if near := Near(name, slices.DeleteFunc(slices.Clone(flags), func(f string) bool { return f == "help" })); len(near) > 0 {
			return near[0]
		}
	}
	for _, ours := range same(name) {
		if slices.Contains(flags, ours) {
			return ours
		}
	}
	return ""
}

// same returns the flags that do what the flag name does in git, gh, kubectl, and other trackers,
// the likeliest first.
func same(name string) []string {
	switch name {
	case "body", "message", "text", "content", "m", "b":
		return []string{"description"}
	case "output", "format", "o":
		return []string{"json"}
	case "tag", "tags":
		return []string{"labels", "label"}
	case "l":
		return []string{"labels", "label", "limit"}
	case "number", "count", "max", "max-count", "L":
		return []string{"limit"}
	case "n":
		return []string{"limit", "dry-run"}
	case "noop", "preview":
		return []string{"dry-run"}
	case "state", "open", "closed", "s":
		return []string{"status"}
	case "owner", "user", "mine", "me":
		return []string{"assignee"}
	case "a":
		return []string{"assignee", "all"}
	case "kind", "t":
		return []string{"type"}
	case "dep", "deps", "blocked-by", "needs":
		return []string{"depends-on"}
	case "milestone", "sprint", "cycle":
		return []string{"iteration"}
	case "p":
		return []string{"priority", "port"}
	case "daemon", "background", "d":
		return []string{"detach"}
	case "force", "no-confirm", "f":
		return []string{"yes"}
	case "follow", "w":
		return []string{"watch"}
	case "dir", "directory", "cwd", "path", "C", "R":
		return []string{"repo"}
	case "refresh", "no-cache":
		return []string{"fresh"}
	case "cached", "no-fetch", "no-network":
		return []string{"offline"}
	case "issue", "ticket":
		return []string{"jira"}
	case "pull", "pull-request":
		return []string{"pr"}
	case "silent", "q":
		return []string{"quiet"}
	case "V":
		return []string{"version"}
	}
	return nil
}
