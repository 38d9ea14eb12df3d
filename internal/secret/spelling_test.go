package secret_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"

	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/foreign"
	"github.com/copse-dev/copse/internal/secret"
)

// singleBytes returns text in an encoding in which each character outside ASCII is one byte: that of
// Latin-1, or another one.
func singleBytes(text string, other bool) string {
	var bytes []byte
	for _, r := range text {
		if r >= 0x80 && other {
			r = 0x80 + r%0x20
		}
		bytes = append(bytes, byte(r))
	}
	return string(bytes)
}

// A secret outside ASCII is found in encodings of one byte per character, also after these bytes became
// U+FFFD, and composed as well as decomposed.
func TestOtherEncodings(t *testing.T) {
	t.Parallel()
	for _, word := range []string{"pässwörd-größe-1", "pässwört", "übergrößeäöü", "naïveété1", "Ã¤-secret-Ã©"} {
		latin := singleBytes(word, false)
		shown, err := json.Marshal(latin)
		if err != nil {
			t.Fatal(err)
		}
		for name, text := range map[string]string{
			"NFC":                norm.NFC.String(word),
			"NFD":                norm.NFD.String(word),
			"NFD in a URL":       url.QueryEscape(norm.NFD.String(word)),
			"Latin-1":            latin,
			"Latin-1 in base64":  base64.StdEncoding.EncodeToString([]byte("ada:" + latin)),
			"clean Latin-1":      cleantext.Block(latin),
			"Latin-1 in JSON":    string(shown),
			"characters of it":   string([]rune(latin)),
			"clean, of a page":   cleantext.Block(singleBytes(word, true)),
			"characters of that": string([]rune(singleBytes(word, true))),
		} {
			for _, known := range []*secret.Set{known("", word), known("", norm.NFD.String(word))} {
				if got := known.Redact("A " + text + " Z"); !strings.Contains(got, secret.Mask) || strings.Contains(got, "1") || len(got) > len("A [redacted] Z")+10 {
					t.Errorf("%s: %s: %q became %q", word, name, text, got)
				}
			}
		}
	}
}

// A secret is found in hexadecimal, and in a URL whatever characters are escaped in it, and how.
func TestHexadecimal(t *testing.T) {
	t.Parallel()
	for _, word := range []string{token, `Tr0ub4dor&3 it's/ü+~`} {
		for name, text := range map[string]string{
			"xxd -p":      fmt.Sprintf("%x", "ada:"+word+"\n"),
			"xxd -u -p":   fmt.Sprintf("%X", word),
			"bytea":       fmt.Sprintf(`\x%x`, word),
			"plus":        strings.ReplaceAll(word, " ", "+"),
			"mixed query": strings.NewReplacer("&", "%26", "/", "%2f", " ", "+", "ü", "%C3%bc").Replace(word),
			"mixed path":  strings.NewReplacer("&", "%26", "/", "%2f", " ", "%20", "+", "%2B").Replace(word),
		} {
			if got := known("", word).Redact("A " + text + " Z"); !strings.Contains(got, secret.Mask) || len(got) > len(`A 6164613a0a[redacted] Z`) {
				t.Errorf("%s: %s: %q became %q", word, name, text, got)
			}
		}
	}
}

// A secret is found in text that copse has marked as foreign, whatever characters the marks replace.
func TestMarked(t *testing.T) {
	t.Parallel()
	for _, word := range []string{token, "pass`word`1234ab", "`quoted1234ab`", "it's a `pass` word1", "``1234ab``12"} {
		for name, line := range map[string]foreign.Line{
			"name": foreign.Name("A " + word + " Z"), "prose": foreign.Prose("A " + word + " Z"), "title": foreign.Own("a ").Prose(word),
			"quote": foreign.Quote("A " + word + " Z")[0], "both": foreign.Prose("A " + foreign.Spell(word) + " Z"),
		} {
			shown := foreign.Markdown([]foreign.Line{line})
			if got := known("", word).Redact(shown); !strings.Contains(got, secret.Mask) || strings.Contains(got, "1") || strings.Contains(got, "pass") {
				t.Errorf("%s: %s: %s became %s", word, name, shown, got)
			}
		}
	}
}
