package adopt

import (
	"iter"
	"regexp"
	"slices"
	"strings"

	"github.com/copse-dev/copse/internal/distinct"
	"github.com/copse-dev/copse/internal/lazyregexp"
)

// A Jira key: a project, which begins with a letter, and a number.
var (
	inText = lazyregexp.New(`[A-Z][A-Z0-9_]+-[1-9][0-9]*`)
	inName = lazyregexp.New(`(?:^|[/_-])([A-Z][A-Z0-9]+-[1-9][0-9]*)(?:$|[/_-])`)
	// A project of one letter counts only at the beginning of a name or of a part of it, because
	// plan-B-2 is not a key.
	ofLetter = lazyregexp.New(`(?:^|/)([A-Z]-[1-9][0-9]*)(?:$|[/_-])`)
)

// standards look like keys, but are not.
func standard(project string) bool {
	return slices.Contains([]string{"UTF", "ISO", "RFC", "SHA", "MD", "AES", "CVE", "IPV", "X", "BASE", "UCS", "PEP", "EC", "GPT"}, project)
}

func isKey(key string) bool {
	project, _, _ := strings.Cut(key, "-")
	return !standard(project)
}

// keyOf returns the key in the name of a branch, as a separate word: PROJ-12,
// feature/PROJ-12-login, PROJ-12/login, A-3. Lowercase letters form no key: in names they are words, as
// in utf-8 and fix-2.
func keyOf(branch string) string {
	for _, form := range []*regexp.Regexp{inName.Get(), ofLetter.Get()} {
		for _, m := range form.FindAllStringSubmatch(branch, -1) {
			if isKey(m[1]) {
				return m[1]
			}
		}
	}
	return ""
}

// maxMessage is how much of the message of a commit is searched for keys, in bytes. A message can have
// megabytes.
const maxMessage = 64 << 10

// keysIn returns the keys in the message of a commit, each once. Keys of one letter do not count:
// in sentences they are names of variants and parts.
func keysIn(message string) iter.Seq[string] {
	if len(message) > maxMessage {
		end := max(strings.LastIndexAny(message[:maxMessage], " \n"), 0)
		message = message[:end]
	}
	return func(yield func(string) bool) {
		var seen distinct.List[string]
		for _, at := range inText.Get().FindAllStringIndex(message, -1) {
			key := message[at[0]:at[1]]
			whole := (at[0] == 0 || !word(message[at[0]-1])) && (at[1] == len(message) || !word(message[at[1]]))
			if !whole || !isKey(key) || !seen.Add(key) {
				continue
			}
			if !yield(key) {
				return
			}
		}
	}
}

// word reports whether a byte next to a key makes it a part of a longer word.
func word(b byte) bool {
	return b == '-' || b == '_' || b == '/' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z'
}
