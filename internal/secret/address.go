package secret

import (
	"strings"

	"github.com/copse-dev/copse/internal/lazyregexp"
)

// namedValue matches a name that stands for a secret, such as "API_KEY" or "--api-key", and its value, as
// JSON, YAML, and TOML have both.
var namedValue = lazyregexp.New(`(?i)((?:key|token|secret|passw|credential|authorization)[\w-]*["']?\s*[:=,]\s*)` +
	`("(?:[^"\\]|\\.)*"|'[^']*'|[^"'\s,{}\[\]]+)`)

// WithoutNamed returns a text with "…" in place of the values of names that stand for secrets. References
// to variables remain: they begin with "$", or their name ends in "env_var". Call [WithoutBearers] first.
func WithoutNamed(text string) string {
	pattern := namedValue.Get()
	return pattern.ReplaceAllStringFunc(text, func(found string) string {
		parts := pattern.FindStringSubmatch(found)
		value := strings.Trim(parts[2], `"'`)
		if strings.HasPrefix(value, "$") || strings.HasPrefix(value, scheme) || strings.Contains(parts[1], "_env_var") {
			return found
		}
		return parts[1] + strings.Replace(parts[2], value, "…", 1)
	})
}

// WithoutLogins returns a text with "…" in place of the logins in its addresses: what is before the
// last "@" of the host, as in https://ada:1234@example.com. JSON can escape the slashes of an address.
func WithoutLogins(text string) string {
	var out strings.Builder
	for {
		i, length := strings.Index(text, "://"), len("://")
		if j := strings.Index(text, `:\/\/`); j >= 0 && (i < 0 || j < i) {
			i, length = j, len(`:\/\/`)
		}
		if i < 0 {
			return out.String() + text
		}
		i += length
		out.WriteString(text[:i])
		text = text[i:]
		if at := loginOf(text); at >= 0 {
			out.WriteString("…")
			text = text[at:]
		}
	}
}

// loginOf returns the length of the login at the beginning of an address without its scheme, -1 if
// there is none.
func loginOf(text string) int {
	if end := strings.IndexAny(text, " \t\r\n\"'`<>"); end >= 0 {
		text = text[:end]
	}
	host := text
	if end := strings.IndexAny(text, `/?#\`); end >= 0 {
		host = text[:end]
	}
	if at := strings.LastIndexByte(host, '@'); at >= 0 {
		return at
	}
	// A password can contain a character that it must escape. A port has only digits.
	if _, port, ok := strings.Cut(host, ":"); ok && strings.Trim(port, "0123456789") != "" {
		return strings.LastIndexByte(text, '@')
	}
	return -1
}

// scheme precedes a token in a header.
const scheme = "Bearer "

// WithoutBearers returns a text with "…" in place of the tokens after "Bearer", up to the end of the
// quotation or a blank.
func WithoutBearers(text string) string {
	var out strings.Builder
	for {
		i := strings.Index(text, scheme)
		if i < 0 {
			return out.String() + text
		}
		ends := "\"' \t\r\n"
		if i > 0 && (text[i-1] == '"' || text[i-1] == '\'') {
			ends = text[i-1:i] + "\r\n"
		}
		out.WriteString(text[:i] + scheme + "…")
		text = text[i+len(scheme):]
		end := strings.IndexAny(text, ends)
		if end < 0 {
			return out.String()
		}
		text = text[end:]
	}
}
