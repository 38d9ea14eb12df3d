package secret_test

import (
	"encoding/json"
	"fmt"
	"html"
	"math/rand/v2"
	"net/url"
	"strings"
	"testing"

	"github.com/copse-dev/copse/internal/secret"
)

// spell returns a character as a random program escapes it.
func spell(random *rand.Rand, c byte) string {
	switch random.IntN(9) {
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
