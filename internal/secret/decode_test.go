package secret_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"math/rand/v2"
	"net/url"
	"strings"
	"testing"

	"github.com/copse-dev/copse/internal/secret"
	"github.com/copse-dev/copse/internal/test/need"
)

// invisible are characters and bytes that show nothing, as they are and escaped.
var invisible = []string{
	"\x00", "\r", "\b", "\x7f", "\x9b", "\xff", "\u009b", "\u00ad", "\u200b", "\u202e", "\ufe0f", "\ufeff", "\ufffd", "\U000e0041",
	`\u0000`, `\u200B`, `\udb40\udc41`, `\r`, `\b`, "%00", "%EF%BB%BF", "&#8203;", "&#xAD;", "&#0;",
	`\u{200b}`, `\U0000feff`,
}

// spell returns a character as a random program escapes it.
func spell(random *rand.Rand, c byte) string {
	switch random.IntN(13) {
	case 0:
		return fmt.Sprintf("%%%02X", c)
	case 1:
		return fmt.Sprintf("%%%02x", c)
	case 2:
		return fmt.Sprintf(`\u%04x`, c)
	case 3:
		return fmt.Sprintf(`\u%04X`, c)
	case 4:
		return fmt.Sprintf("&#%d;", c)
	case 5:
		return fmt.Sprintf("&#x%X;", c)
	case 6:
		return fmt.Sprintf(`\x%02x`, c)
	case 7:
		return fmt.Sprintf(`\u{%x}`, c)
	case 8:
		return fmt.Sprintf(`\U%08x`, c)
	case 9:
		return fmt.Sprintf(`\%03o`, c)
	case 10:
		return fmt.Sprintf(`\x{%02X}`, c)
	case 11:
		if c == '/' {
			return `\/`
		}
	}
	return string(c)
}

// A secret is found whatever characters of it a program escapes, and how, also twice, and in
// pieces, and the text around it stays.
func TestEscapedInAnyWay(t *testing.T) {
	t.Parallel()
	const token = `ghp_aB3/xY+9%z"q=&Z`
	random := rand.New(rand.NewPCG(3, 4)) //nolint:gosec // a sequence that repeats
	outer := []func(string) string{
		func(s string) string { return s },
		url.QueryEscape, html.EscapeString,
		func(s string) string { text, _ := json.Marshal(s); return string(text[1 : len(text)-1]) },
		func(s string) string { return strings.ReplaceAll(s, "/", `\/`) },
	}
	for range 3000 {
		set := secret.New(nil)
		set.Add(token)
		spelled := ""
		for i := range len(token) {
			if i > 0 && random.IntN(10) == 0 {
				spelled += invisible[random.IntN(len(invisible))]
			}
			spelled += spell(random, token[i])
		}
		spelled = outer[random.IntN(len(outer))](spelled)
		text := "50% of &amp; " + token + " C:\\new " + spelled + " 100%"
		const want = "50% of &amp; " + secret.Mask + " C:\\new " + secret.Mask + " 100%"
		if got := set.Redact(text); got != want {
			t.Fatalf("%q: %q", spelled, got)
		}
		document, err := json.Marshal(map[string]string{"k": text})
		if err != nil {
			t.Fatal(err)
		}
		var value struct{ K string }
		if err := json.Unmarshal(set.JSON(document), &value); err != nil || value.K != want {
			t.Fatalf("%q in JSON: %q, %v", spelled, value.K, err)
		}
		var out strings.Builder
		w := set.Writer(&out)
		for rest := text; rest != ""; {
			n := 1 + random.IntN(len(rest))
			if _, err := w.Write([]byte(rest[:n])); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		if err := w.Close(); err != nil || out.String() != want {
			t.Fatalf("%q in pieces: %q, %v", spelled, out.String(), err)
		}
	}
}

// A secret is found as shells, SQL, and CSV quote it, also twice, and in a text that continues.
func TestQuoted(t *testing.T) {
	t.Parallel()
	for _, word := range []string{"Tr0ub4dor&3 it's", `p@ss"w<o>rd12;$x`, "Kx8#mQ!z(2)*Lp~v", `ab''cd"ef'ghé`, `a\b(c)\ d~`, `ab\cd'ef\'gh~`} {
		backslashes := ""
		for i := range len(word) {
			if c := word[i]; strings.IndexByte(" '\"&<>;$#!()*~@\\", c) >= 0 {
				backslashes += `\`
			}
			backslashes += word[i : i+1]
		}
		for name, spelled := range map[string]string{
			"printf %q": backslashes,
			"set -x":    strings.ReplaceAll(word, "'", `'\''`),
			"shlex":     strings.ReplaceAll(word, "'", `'"'"'`),
			"SQL":       strings.ReplaceAll(word, "'", "''"),
			"CSV":       strings.ReplaceAll(word, `"`, `""`),
		} {
			set := known("", word)
			for _, text := range []string{spelled, strings.ReplaceAll(strings.ReplaceAll(spelled, `\`, `\\`), `"`, `\"`)} {
				text = "A '" + text + "' Z"
				got := set.Redact(text)
				if !strings.HasPrefix(got, "A ") || !strings.HasSuffix(got, " Z") || !strings.Contains(got, secret.Mask) || len(got) > len("A '' Z")+len(secret.Mask)+4 {
					t.Errorf("%s: %s: %s", name, text, got)
				}
				begin := max(0, strings.Index(got, secret.Mask))
				for i := range len(text) {
					if part := set.RedactPart(text[:i]); !strings.HasPrefix(got[:begin], part[:min(begin, len(part))]) ||
						len(part) > begin && !strings.HasPrefix(part[begin:], secret.Mask) {
						t.Errorf("%s: %s: the part %s", name, text[:i], part)
					}
				}
			}
		}
	}
}

// A secret of characters other than those of ASCII is found, too, and one that contains an
// invisible character.
func TestOtherCharacters(t *testing.T) {
	t.Parallel()
	for word, spellings := range map[string][]string{
		"päßwört\U0001f511": {
			`p\u00e4\u00dfw\u00f6rt\ud83d\udd11`, "p%C3%A4%c3%9fw%C3%B6rt%F0%9F%94%91", "p&#228;&#xDF;w&#xf6;rt&#128273;", "pä\u200bß\x9bwört\ufe0f\U0001f511",
			`p\xc3\xa4\xc3\x9fw\xc3\xb6rt\xf0\x9f\x94\x91`,
		},
		"pässwörtlich":   {`p\xe4ssw\xf6rtlich`, "p%E4ssw%f6rtlich", `p\344ssw\366rtlich`, "p\xe4ssw\xf6rtlich"},
		"pass\u200bwort": {"passwort", `pass\u200bwort`, "pass%E2%80%8Bwo%72t"},
		"pass\xffwort":   {"pass\ufffdwort", "pass%ffwort"},
	} {
		for _, spelled := range append(spellings, word) {
			if got := known("", word).Redact("x " + spelled + " y"); got != "x "+secret.Mask+" y" {
				t.Errorf("%q: %q", spelled, got)
			}
		}
	}
}

// A secret is found in the base64 of a document or a URL that contains it.
func TestBase64OfOtherForms(t *testing.T) {
	t.Parallel()
	const token = `ATATT3x/+"ab=CD12 z`
	for name, inner := range map[string]string{
		"query": "?a=" + url.QueryEscape(token), "path": "/" + url.PathEscape(token), "JSON": fmt.Sprintf("{%q:%q}", "a", token), "as it is": "-" + token,
		"component": "%3D" + strings.NewReplacer("/", "%2F", "+", "%2B", `"`, "%22", "=", "%3D", " ", "%20").Replace(token), "HTML": "<p>" + strings.ReplaceAll(token, `"`, "&quot;"),
	} {
		for range 3 {
			inner = " " + inner
			for _, encoding := range []*base64.Encoding{base64.StdEncoding, base64.RawURLEncoding} {
				text := encoding.EncodeToString([]byte(inner + " and more"))
				if got := known("", token).Redact(text); !strings.Contains(got, secret.Mask) {
					t.Errorf("%s: %s", name, got)
				}
			}
		}
	}
}

// A secret is found with the sequences of a terminal in it, as in a log with colors.
func TestSequences(t *testing.T) {
	t.Parallel()
	for _, sequence := range []string{"\x1b[01;31m\x1b[K", "\x1b]8;;http://x\x1b\\", "\x1b]8;;http://x\a", "\x1b(B", "\x1bPq\x1b\\", "\u009b1m", "\x1b[" + strings.Repeat("1;", 40) + "m"} {
		spelled := "ghp_0123" + sequence + "456789abcdef"
		set := known("", "ghp_0123456789abcdef")
		if got := set.Redact("x " + spelled + " y"); got != "x "+secret.Mask+" y" {
			t.Errorf("%q: %q", spelled, got)
		}
		document, err := json.Marshal(spelled)
		if err != nil || string(set.JSON(document)) != `"`+secret.Mask+`"` {
			t.Errorf("%q in JSON: %s, %v", spelled, set.JSON(document), err)
		}
	}
}

// PowerShell encodes commands in UTF-16 before it encodes them in base64.
func TestBase64OfUTF16(t *testing.T) {
	t.Parallel()
	const token = "ghp_0123456789abcdef"
	for before := range 4 {
		var bytes []byte
		for _, c := range []byte(strings.Repeat("x", before) + token + " more") {
			bytes = append(bytes, c, 0)
		}
		if got := known("", token).Redact(base64.StdEncoding.EncodeToString(bytes)); !strings.Contains(got, secret.Mask) {
			t.Error(got)
		}
	}
}

// The time of a search does not grow with the square of the number of secrets in a text: within the
// limit of a test, it would not end.
func TestManySecrets(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{"escaped": "%41AAAAAAA ", "cut": "AAAAAAA%41\u2026", "plain": "AAAAAAAA "} {
		set := known("u", "AAAAAAAA")
		long := strings.Repeat(text, 50_000)
		if got := set.Redact(long); strings.Contains(got, "AAA") || strings.Count(got, secret.Mask) != 50_000 {
			t.Errorf("%s: %d of 50,000 are found", name, strings.Count(got, secret.Mask))
		}
		document, err := json.Marshal([]string{long})
		if err != nil {
			t.Fatal(err)
		}
		if got := set.JSON(document); strings.Contains(string(got), "AAA") {
			t.Errorf("%s: not found in JSON", name)
		}
	}
}

// Many long secrets that resemble each other do not make a search next to cuts slow.
func TestManyCuts(t *testing.T) {
	t.Parallel()
	set, long := secret.New(nil), strings.Repeat("A", 500)
	for i := range 64 {
		set.AddLogin("u", fmt.Sprintf("%sB%02d%s", long, i, long))
	}
	cuts := 200
	if need.RaceDetector() {
		cuts = 40 // the race detector makes the same search fifty times slower
	}
	text := strings.Repeat(long+"C"+strings.Repeat("%", 11)+"\u2026"+strings.Repeat("%", 11)+"C"+long, cuts)
	set.Redact(text) // it ends
}

// Text with escapes but without a secret stays as it is.
func TestOtherEscapes(t *testing.T) {
	t.Parallel()
	set := secret.New(nil)
	set.Add("ghp_aB3/xY+9=Z")
	for _, text := range []string{
		`%`, `\`, `&`, `%2`, `%zz`, `\u12`, `&#;`, `&#x;`, `&nothing;`, `&#99999999999;`, `%00\u0000&#0;`, `ghp_aB3%2FxY+9=`, `\\\\\\/`, "%25%32%35",
	} {
		if got := set.Redact(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}
