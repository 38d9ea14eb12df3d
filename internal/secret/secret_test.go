package secret_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"html/template"
	"io"
	"log/slog"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/copse-dev/copse/internal/secret"
)

const token = "ghp_0123456789abcdefABCDEF"

func known(login, text string) *secret.Set {
	s := secret.New(nil)
	s.AddLogin(login, text)
	return s
}

// templated returns HTML as html/template writes it, which escapes more than package html.
func templated(t *testing.T, text string) string {
	t.Helper()
	var b strings.Builder
	if err := template.Must(template.New("").Parse(`<td title="{{.}}">{{.}}</td>`)).Execute(&b, text); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestRedact(t *testing.T) {
	t.Parallel()
	basic := base64.StdEncoding.EncodeToString([]byte("ada:" + token))
	odd := `p"a\ss<w&rd é/+`
	for _, tt := range []struct{ name, login, secret, in string }{
		{"bare", "", token, "the token " + token + " is wrong"},
		{"twice", "", token, token + token},
		{"Bearer", "", token, "Authorization: Bearer " + token},
		{"Basic", "ada", token, "Authorization: Basic " + basic},
		{"Basic with another login", "", token, "Basic " + base64.StdEncoding.EncodeToString([]byte("x-access-token:"+token))},
		{"base64 within", "", token, base64.URLEncoding.EncodeToString([]byte(`{"a":"` + token + `"}`))},
		{"URL", "ada", odd, "https://" + url.UserPassword("ada", odd).String() + "@host/x"},
		{"query", "", odd, "?a=" + url.QueryEscape(odd)},
		{"query with small digits", "", odd, "?a=p%22a%5css%3cw%26rd+%c3%a9%2f%2b"},
		{"path with small digits", "", odd, "/p%22a%5css%3cw&rd%20%c3%a9%2f+"},
		{"JSON of PHP", "", "ATATT3x/+ab=CD12", `{"token":"ATATT3x\/+ab=CD12"}`},
		{"HTML of Handlebars", "", "ATATT3x/+ab=CD12", "<td>ATATT3x/+ab&#x3D;CD12</td>"},
		{"HTML of Mustache", "", "ATATT3x/+ab=CD12", "<td>ATATT3x&#x2F;+ab&#x3D;CD12</td>"},
		{"quoted", "", odd, strconv.Quote(odd)},
		{"HTML", "", odd, "<td>" + html.EscapeString(odd) + "</td>"},
		{"HTML of a template", "", odd, templated(t, odd)},
		{"short, in Basic", "ada", "1234", "Basic " + base64.StdEncoding.EncodeToString([]byte("ada:1234"))},
		{"short, with its login", "ada", "1234", "https://ada:1234@host/x"},
	} {
		got := known(tt.login, tt.secret).Redact(tt.in)
		if !strings.Contains(got, secret.Mask) {
			t.Errorf("%s: got %s", tt.name, got)
		}
		for _, leak := range []string{tt.secret, basic} {
			if len(leak) >= 8 && strings.Contains(got, leak) {
				t.Errorf("%s: %s is in %s", tt.name, leak, got)
			}
		}
	}
	for _, in := range []string{"1234 items", "12345678", "nothing"} {
		if got := known("ada", "1234").Redact(in); got != in {
			t.Errorf("a short password changed %q to %q", in, got)
		}
	}
	var unset *secret.Set
	unset.Add(token)
	if got := unset.Redact(token) + string(unset.JSON([]byte(token))); got != token+token {
		t.Errorf("a nil set changed text: %s", got)
	}
}

// A cut in the middle of a secret, in any form, leaves less than 8 characters of it.
func TestCut(t *testing.T) {
	t.Parallel()
	s := known("ada", token)
	for _, form := range []string{token, base64.RawStdEncoding.EncodeToString([]byte("ada:" + token))} {
		text := "the server says " + form + " and more"
		parts := func(shown string) {
			t.Helper()
			for i := range len(form) - 8 {
				if part := form[i : i+8]; strings.Contains(shown, part) && !strings.Contains(s.Redact(form), part) {
					t.Errorf("%q has %q", shown, part)
				}
			}
		}
		for n := range len(text) {
			parts(s.Redact(text[:n] + "…"))
			parts(s.Redact("…" + text[n:]))
			parts(s.Redact("a…b… " + text[:n] + "… and …" + text[n:] + "…"))
			document, err := json.Marshal([]string{"…", text[:n] + "…", "x"})
			if err != nil {
				t.Fatal(err)
			}
			parts(string(s.JSON(document)))
			var out bytes.Buffer
			w := s.Writer(&out)
			for _, piece := range []string{text[:n/2], text[n/2 : n], "…", " end"} {
				if _, err := io.WriteString(w, piece); err != nil {
					t.Fatal(err)
				}
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			parts(out.String())
		}
	}
	// An escape does not hide what a cut leaves.
	escaped := known("", "abc/def+ghi/jkl+mnopqrstuvw/xyz0123456789==")
	for _, form := range []string{`abc/def%2Bghi/jkl%2Bmnopqrstuvw/xyz0123456789%3D%3D`, `abc\/def\u002Bghi\/jkl\u002Bmnopqrstuvw\/xyz0123456789==`, `abc&#47;def+ghi&#47;jkl+mnopqrstuvw&#47;xyz0123456789==`} {
		for n := range len(form) {
			for _, got := range []string{escaped.Redact("x " + form[:n] + "…"), escaped.Redact("…" + form[n:] + " x")} {
				if len(got) > len("…[redacted] x")+24 {
					t.Errorf("%q", got)
				}
			}
		}
	}
	for _, text := range []string{"ghp_…", "…FF", "a word… another", "…", token[:7] + "…"} {
		if got := s.Redact(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}

// The beginning of a text has no end that is the beginning of a secret.
func TestRedactPart(t *testing.T) {
	t.Parallel()
	s := known("", token)
	for n := range len(token) {
		for _, written := range []string{token[:n], strings.ReplaceAll(token[:n], "_", "%5F")} {
			if got := s.RedactPart("first\nx=" + written); got != "first\nx=" {
				t.Errorf("%q: %q", written, got)
			}
		}
	}
	for in, want := range map[string]string{"x=" + token: "x=" + secret.Mask, "x " + token[:20] + "\n": "x " + token[:20] + "\n", "": "", "ab": "ab"} {
		if got := s.RedactPart(in); got != want {
			t.Errorf("%q: %q", in, got)
		}
	}
}

// A token in place of a login is a secret, and so are the secrets in a URL.
func TestTokens(t *testing.T) {
	t.Parallel()
	for _, password := range []string{"", "x-oauth-basic"} {
		s := known(token, password)
		if got := s.Redact("-" + token + "-x-oauth-basic"); got != "-"+secret.Mask+"-x-oauth-basic" {
			t.Errorf("%q: %s", password, got)
		}
	}
	for in, want := range map[string][]string{
		"https://ada:sesame17%21@proxy:3128":                      {"sesame17!"},
		"ada:sesame17@proxy:3128":                                 {"sesame17"},
		"postgres://ada@h/d?sslpassword=sesame17&project=":        {"sesame17"},
		"https://h/x?access_token=" + token + "&a=12345678":       {token},
		"https://h/x#access_token=" + token + "&a=12345678":       {token},
		"https://h/x;token=sesame17%21;a=12345678":                {"sesame17!", "sesame17%21"},
		"https://ada:sesame 17@h/o/r@v2?access_key=12345679":      {"sesame 17", "12345679"},
		"https://h/x?key=sesame17&auth=sesame18&author=-12345678": {"sesame17", "sesame18"},
		"https://token.example.com/x=-12345678":                   nil,
		"https://" + token + ":x-oauth-basic@github.com/o/r":      {token},
		"http://ada:sesame 17/18%@proxy:1":                        {"sesame 17/18%"},
		"tcp://ada:17/sesame@h":                                   {"17/sesame"},
		"https://ada.example.com:443/long/path/to/it?a=b":         nil,
		"%zz://": nil,
	} {
		s := secret.New(nil)
		secret.InURL(in, s.AddLogin)
		for _, w := range want {
			if got := s.Redact("-" + w + "-12345678"); got != "-"+secret.Mask+"-12345678" {
				t.Errorf("%s: %s", in, got)
			}
		}
	}
}

func TestLater(t *testing.T) {
	t.Parallel()
	asked := 0
	s := secret.New(func(s *secret.Set) {
		asked++
		s.Add(token)
	})
	if asked != 0 {
		t.Error("asked before anything is shown")
	}
	if got := s.Redact(token) + s.Redact("x"); got != secret.Mask+"x" || asked != 1 {
		t.Errorf("got %s after %d questions", got, asked)
	}
}

// JSON stays JSON, whatever the secret is, and only its strings change.
func TestJSON(t *testing.T) {
	t.Parallel()
	s := known("ada", token)
	s.Add("12345678")
	s.Add(`","bb":"`)
	in := `{"a":"x ` + token + `","n":12345678,"12345678":[true,"\u0067hp_0123456789abcdefABCDEF","\\","","bb":""]}`
	in = strings.Replace(in, `"","bb":""`, `"\",\"bb\":\""`, 1)
	want := `{"a":"x [redacted]","n":12345678,"[redacted]":[true,"[redacted]","\\","[redacted]"]}`
	if got := string(s.JSON([]byte(in))); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringN(8, 20, -1).Filter(func(s string) bool { return len(strings.TrimSpace(s)) >= 8 }).Draw(t, "secret")
		text = strings.TrimSpace(strings.ToValidUTF8(text, "?"))
		data, err := json.Marshal(map[string]any{"a": "x" + text + "y", "b": []string{"before", text}, "c": 3})
		if err != nil {
			t.Fatal(err)
		}
		got := known("", text).JSON(data)
		var back map[string]any
		if err := json.Unmarshal(got, &back); err != nil {
			t.Fatalf("%s is no JSON: %v", got, err)
		}
		if s := fmt.Sprint(back); strings.Contains(s, text) && !strings.Contains(secret.Mask, text) { //nolint:gocritic // the mask may contain the text by chance
			t.Fatalf("%q is in %s", text, got)
		}
	})
}

// A pipe whose reader is gone does not hold a program up at its end.
func TestCloseWritesNothingWithoutNeed(t *testing.T) {
	t.Parallel()
	if err := known("", token).Writer(neverWritten{t}).Close(); err != nil {
		t.Error(err)
	}
}

type neverWritten struct{ t *testing.T }

func (w neverWritten) Write(p []byte) (int, error) {
	w.t.Errorf("%q is written", p)
	return len(p), nil
}

// A secret is found in whatever pieces it comes, and nothing else is lost.
func TestWriter(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := known("ada", token)
		parts := rapid.SliceOfN(rapid.SampledFrom([]string{token, token[:7], "ghp_", "x", "\n", "ordinary text "}), 0, 20).Draw(t, "parts")
		text := strings.Join(parts, "")
		var out bytes.Buffer
		w := s.Writer(&out)
		for rest := text; rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "piece")
			if wrote, err := io.WriteString(w, rest[:n]); err != nil || wrote != n {
				t.Fatalf("wrote %d of %d: %v", wrote, n, err)
			}
			rest = rest[n:]
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if want := strings.ReplaceAll(text, token, secret.Mask); out.String() != want {
			t.Fatalf("got %q, want %q", out.String(), want)
		}
	})
}

// What is written in lines is there at once.
func TestWriterHoldsNoLine(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	logger := slog.New(slog.NewTextHandler(known("", token).Writer(&out), nil))
	logger.Info("answered", "body", `echo "`+token+`"`, "g", "h")
	if got := out.String(); !strings.HasSuffix(got, "g=h\n") || strings.Contains(got, token) || !strings.Contains(got, secret.Mask) {
		t.Errorf("got %q", got)
	}
	if secret.Raw(known("", token).Writer(&out)) != io.Writer(&out) || secret.Raw(&out) != io.Writer(&out) {
		t.Error("Raw returns another writer")
	}
}

// answers are texts of a size without a secret, by what they contain.
func answers(size int) map[string]string {
	all := make(map[string]string)
	for name, unit := range map[string]string{
		"plain":  `{"branch":"feature/login","parent":"main","title":"Add the form"}`,
		"quoted": `{"text":"{\"branch\":\"feature/login\",\"title\":\"Add 5% of \u003cb\u003e\"}"}`,
		"drawn":  "├── feature/grün\n│   └── 修正 🌳 — done\n",
		"pages":  `<td title=\"a &amp; b\">C:\\\\new&#43;1 %2Fsrc</td>, https://host/a%20b?c=d%2Fe`,
	} {
		all[name] = strings.ToValidUTF8(strings.Repeat(unit, size/len(unit)+1)[:size], "")
	}
	return all
}

func several() *secret.Set {
	s := known("ada", token)
	s.AddLogin("ada@example.com", "ATATT3xFfGF0T7oXo9ZZjY8Zp3l")
	s.Add("abcdefghijklmnopqrstuvwxyz012345")
	return s
}

// Every answer is searched for secrets, so a search without a result must leave no garbage, also if
// the answer is JSON with the escapes that JSON has.
func TestNothingToRemove(t *testing.T) { // not parallel: it counts the allocations of the process
	s := several()
	for _, name := range []string{"plain", "quoted", "drawn"} {
		text := answers(4 << 10)[name]
		document := []byte(text)
		if n := testing.AllocsPerRun(10, func() { s.Redact(text); s.JSON(document) }); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

func BenchmarkRedact(b *testing.B) {
	s := several()
	for _, size := range []int{300, 10 << 10, 256 << 10} {
		for name, text := range answers(size) {
			b.Run(name+"/"+strconv.Itoa(size), func(b *testing.B) {
				b.SetBytes(int64(size))
				b.ReportAllocs()
				for b.Loop() {
					s.Redact(text)
				}
			})
		}
	}
}

// A piece of a text shows no part of a secret, wherever it begins and ends, and everything else.
func TestBetween(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("0123456789abcdef", 256)
	for spelled, word := range map[string]string{token: token, url.QueryEscape("p%w+d/\"é" + token): "p%w+d/\"é" + token, long: long} {
		s, before, after := known("", word), "before ", " after"
		text := before + spelled + after
		step := max(1, len(spelled)/50)
		for from := 0; from <= len(text); from += step {
			for to := from; to <= len(text); to += step {
				want := ""
				if from < len(before) {
					want = before[from:min(to, len(before))]
				}
				if from < len(before)+len(spelled) && to > len(before) && from < to {
					want += secret.Mask
				}
				if rest := max(from, len(before)+len(spelled)); to > rest {
					want += text[rest:to]
				}
				if got := s.Between(text, from, to); got != want {
					t.Fatalf("%.40q from %d to %d: %.200q, want %q", text, from, to, got, want)
				}
			}
		}
	}
	var none *secret.Set
	if got := none.Between("text", 1, 3); got != "ex" {
		t.Errorf("without secrets: %q", got)
	}
}

// A long part of a secret next to a cut is removed as a whole.
func TestLongCut(t *testing.T) {
	t.Parallel()
	var word strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&word, "%d.", i)
	}
	s := known("", word.String())
	for _, part := range []string{word.String()[:4000] + "…", "…" + word.String()[4000:]} {
		if got := s.Redact("a " + part + " b"); !strings.Contains(got, secret.Mask) || len(got) > 30 {
			t.Errorf("%.100q", got)
		}
	}
}
