// Package setting finds the secrets in settings of git, and in the commands that those can contain.
package setting

import (
	"encoding/base64"
	"strings"

	"github.com/copse-dev/copse/internal/lazyregexp"
	"github.com/copse-dev/copse/internal/secret"
)

// secretName matches the name of a setting whose value is a secret, such as "github-token" and "smtppass".
var secretName = lazyregexp.New(`(?:token|pass|passw(?:or)?d|secret)$`)

// In calls add with the secrets in an entry of git's configuration: those that inURL, such as [secret.InURL], finds
// in its URLs, wherever they are in the key or the value, in the address of a proxy, in a header that goes with
// requests, in a value whose name is that of a secret, and in a command.
func In(key, value string, inURL func(address string, add func(login, secret string)), add func(login, secret string)) {
	name := strings.ToLower(key[strings.LastIndexByte(key, '.')+1:])
	switch {
	case name == "extraheader":
		inHeader(value, add)
	case name == "proxy" && !strings.Contains(value, "://"):
		secret.InURL(value, add)
	case secretName.Get().MatchString(name) && !strings.HasSuffix(name, "askpass") && !strings.HasPrefix(strings.ToLower(key), "alias."):
		add("", value)
	default:
		inCommand(value, 0, add)
	}
	for _, text := range []string{key, value} {
		for address := range urls(text) {
			inURL(address, add)
		}
	}
}

// urls returns the URLs in a text that can have a login or parameters. A URL can be part of a command, of a key, or
// of another URL. A quotation mark can end it, and can be a character of a password.
func urls(text string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		if !strings.Contains(text, "://") {
			return
		}
		if urlsBetween(text, " \t'\"", yield) && strings.ContainsAny(text, `'"`) {
			urlsBetween(text, " \t", yield)
		}
	}
}

// urlsBetween yields the URLs in the words between separators, and reports whether to continue.
func urlsBetween(text, separators string, yield func(string) bool) bool {
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return strings.ContainsRune(separators, r) }) {
		for first, at := true, strings.Index(word, "://"); at >= 0; first = false {
			next := strings.Index(word[at+3:], "://")
			if first && next >= 0 && !give(word, at, len(word), yield) {
				return false
			}
			end := len(word)
			if next >= 0 {
				next += at + 3
				end = next
			}
			if !give(word, at, end, yield) {
				return false
			}
			at = next
		}
	}
	return true
}

// give yields the URL of a word with "://" at a place, and reports whether to continue. Its scheme has letters only,
// because a key can precede it.
func give(word string, at, end int, yield func(string) bool) bool {
	if !strings.ContainsAny(word[at:end], "@?#;") {
		return true
	}
	letter := func(r rune) bool { return (r|0x20) >= 'a' && (r|0x20) <= 'z' }
	if begin := strings.LastIndexFunc(word[:at], func(r rune) bool { return !letter(r) }) + 1; begin < at {
		return yield(word[begin:end])
	}
	return yield("https" + word[at:end])
}

// inHeader adds what a header says: "Authorization: Basic YWRhOnNlY3JldA==", "PRIVATE-TOKEN:secret", or
// "Cookie: session=secret".
func inHeader(text string, add func(login, secret string)) {
	_, value, _ := strings.Cut(text, ":")
	words := strings.Fields(value)
	if len(words) == 0 {
		return
	}
	credential := words[len(words)-1]
	add("", credential)
	if decoded, err := base64.StdEncoding.DecodeString(credential); err == nil {
		if login, password, ok := strings.Cut(string(decoded), ":"); ok {
			add(login, password)
		}
	}
	for word := range strings.FieldsFuncSeq(value, func(r rune) bool { return strings.ContainsRune(" \t;,\"", r) }) {
		_, parameter, _ := strings.Cut(word, "=")
		add("", parameter)
	}
}
