package cleantext_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/copse-dev/copse/internal/cleantext"
)

func TestLine(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, in, want string }{
		{"empty", "", ""},
		{"plain", "Fix login", "Fix login"},
		{"spaces stay", "  a  b ", "  a  b "},
		{"line feed", "a\nb", "a b"},
		{"CRLF is one break", "a\r\nb", "a b"},
		{"tab", "a\tb", "a b"},
		{"rare breaks", "a\vb\fc\u0085d\u2028e\u2029f\rg", "a b c d e f g"},
		{"C0 and DEL", "a\x00b\x07c\x08d\x7fe", "abcde"},
		{"C1", "a\u0080b\u008fc", "abc"},

		{"colour", "\x1b[1;31mred\x1b[0m", "red"},
		{"private mode", "\x1b[?25lx\x1b[?25h", "x"},
		{"intermediates", "\x1b[4 qx", "x"},
		{"8-bit introducer", "\u009b31mred", "red"},
		{"hyperlink", "\x1b]8;;https://evil.example\x1b\\click\x1b]8;;\x1b\\", "click"},
		{"title with BEL", "\x1b]0;pwned\x07x", "x"},
		{"8-bit OSC and ST", "\u009d0;pwned\u009cx", "x"},
		{"non-ASCII payload", "\x1b]0;中é\x07x", "x"},
		{"DCS", "\x1bP1$r0m\x1b\\x", "x"},
		{"SOS, PM, APC", "\x1bXa\x1b\\\x1b^b\x1b\\\x1b_c\x1b\\x", "x"},
		{"stray terminator", "a\x1b\\b", "ab"},
		{"charset", "\x1b(Bx", "x"},
		{"single", "\x1bcx\x1b7y\x1b=z", "xyz"},
		{"ESC at the end", "x\x1b", "x"},
		{"ESC ESC", "\x1b\x1b[31mx", "x"},
		{"ESC before a letter beyond ASCII", "\x1béx", "éx"},
		{"unfinished CSI", "x\x1b[31", "x"},
		{"broken CSI keeps what it cannot own", "\x1b[31éx", "éx"},
		{"CSI cut by a line break", "\x1b[3\n1m", " 1m"},
		{"unclosed OSC hides nothing", "\x1b]0;rm -rf\nnext", "0;rm -rf next"},
		{"unclosed OSC before another sequence", "\x1b]0;a\x1b[31mb", "0;ab"},
		{"nested introducers", "\x1b[\x1b[31m31mx", "31mx"},

		{"bidi", "a\u202eb\u202cc\u2066d\u2069e\u200ef\u200fg\u061ch", "abcdefgh"},
		{"zero width", "pass\u200bword\u2060x\ufeffy\u00adz", "passwordxyz"},
		{"tags", "hi\U000e0001\U000e0068\U000e0069\U000e007f", "hi"},
		{"fillers", "a\u3164b\uffa0c\u115fd\u034fe", "abcde"},
		{"joiner in Latin", "pass\u200dword\u200cs", "passwords"},
		{"joiner at the start", "\u200da", "a"},
		{"Persian", "می\u200cخواهم", "می\u200cخواهم"},
		{"Malayalam at a word end", "ന\u0d4d\u200d x", "ന\u0d4d\u200d x"},
		{"two joiners", "می\u200c\u200dخ", "می\u200cخ"},
		{"family", "👨\u200d👩\u200d👧", "👨\u200d👩\u200d👧"},
		{"heart on fire", "❤\ufe0f\u200d🔥", "❤\ufe0f\u200d🔥"},
		{"keycap", "1\ufe0f\u20e3", "1\ufe0f\u20e3"},
		{"selectors as a hidden message", "😀\ufe01\ufe02\U000e0112x", "😀\ufe01x"},
		{"selector after nothing", "\ufe0fa \ufe0f", "a "},
		{"ideographic variant", "葛\U000e0100", "葛\U000e0100"},
		{"ideographic selector elsewhere", "a\U000e0100", "a"},
		{"Mongolian", "ᠠ\u180b", "ᠠ\u180b"},
		{"visible format sign", "\u0600٣", "\u0600٣"},
		{"flag without its tags", "🏴\U000e0067\U000e0062\U000e007f", "🏴"},
		{"private use", "\ue0b0", "\ue0b0"},

		{"bad UTF-8 run", "a\xff\xfe\xfdb", "a\ufffdb"},
		{"truncated character", "a\xe4\xb8", "a\ufffd"},
		{"surrogate", "a\xed\xa0\x80b", "a\ufffdb"},
		{"raw 8-bit CSI", "\x9b31mx", "\ufffd31mx"},
		{"replacement character stays", "a\ufffdb", "a\ufffdb"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := cleantext.Line(tt.in); got != tt.want {
				t.Errorf("Line(%q) = %q, want %q", tt.in, got, tt.want)
			}
		})
	}
}

func TestBlock(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, in, want string }{
		{"line feeds and tabs stay", "a\n\tb\n", "a\n\tb\n"},
		{"CRLF", "a\r\nb\r\n", "a\nb\n"},
		{"lone CR", "10%\r20%\r\n", "10%\n20%\n"},
		{"rare breaks", "a\vb\fc\u0085d\u2028e\u2029f", "a\nb\nc\nd\ne\nf"},
		{"sequences", "\x1b[32mok\x1b[0m\n\x1b]0;t\x07done", "ok\ndone"},
		{"unclosed OSC ends with its line", "\x1b]0;a\nb\x07c", "0;a\nbc"},
		{"selector after a line break", "a\n\ufe0fb", "a\nb"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := cleantext.Block(tt.in); got != tt.want {
				t.Errorf("Block(%q) = %q, want %q", tt.in, got, tt.want)
			}
		})
	}
}

func TestCut(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, in string
		n        int
		want     string
	}{
		{"fits", "abc", 3, "abc"},
		{"fits in characters, not in bytes", "äöü", 3, "äöü"},
		{"cut", "abcd", 3, "ab…"},
		{"cut beyond ASCII", "äöüß", 3, "äö…"},
		{"one", "abc", 1, "…"},
		{"none", "abc", 0, ""},
		{"negative", "abc", -1, ""},
		{"empty", "", 5, ""},
		{"space before the cut", "ab cd", 4, "ab…"},
		{"marks stay with their letter", "abe\u0301\u0302cd", 5, "ab…"},
		{"joined emoji stay whole", "ab👨\u200d👩\u200d👧cd", 5, "ab…"},
		{"skin tone", "ab👍🏽cd", 4, "ab…"},
		{"flag halves", "a🇩🇪🇫🇷b", 5, "a🇩🇪…"},
		{"nothing but one cluster", "e" + strings.Repeat("\u0301", 50), 4, "e\u0301\u0301…"},
		{"bad UTF-8 counts by byte", "\xff\xff\xff", 2, "\xff…"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := cleantext.Cut(tt.in, tt.n); got != tt.want {
				t.Errorf("Cut(%q, %d) = %q, want %q", tt.in, tt.n, got, tt.want)
			}
		})
	}
}

// hostile draws text from the pieces that the rules are about, so that they
// meet each other often.
func hostile() *rapid.Generator[string] {
	pieces := []string{
		"a", "é", "中", "م", "👨", "🇩", "1", " ", "\n", "\r", "\t", "\x00", "\x07", "\x1b", "[", "]", "P", "(", "\\", "m",
		";", "0", "\u009b", "\u009c", "\u009d", "\u0085", "\u2028", "\u200b", "\u200c", "\u200d", "\u202e", "\ufe0f",
		"\U000e0100", "\U000e0041", "\u0301", "\xff", "\xe4", "\xb8", "\ufffd",
	}
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 30).Draw(t, "pieces"), "")
	})
}

func TestProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.OneOf(hostile(), rapid.String()).Draw(t, "s")
		checkLine(t, s)
		checkBlock(t, s)
		checkCut(t, s, rapid.IntRange(0, 40).Draw(t, "n"))
	})
}

type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

func checkLine(t fataler, s string) {
	t.Helper()
	got := cleantext.Line(s)
	checkClean(t, s, got, "")
	if again := cleantext.Line(got); again != got {
		t.Fatalf("Line(%q) = %q, and once more = %q", s, got, again)
	}
}

func checkBlock(t fataler, s string) {
	t.Helper()
	got := cleantext.Block(s)
	checkClean(t, s, got, "\n\t")
	if again := cleantext.Block(got); again != got {
		t.Fatalf("Block(%q) = %q, and once more = %q", s, got, again)
	}
}

func checkClean(t fataler, in, got, allowed string) {
	t.Helper()
	if !utf8.ValidString(got) {
		t.Fatalf("%q gave invalid UTF-8 %q", in, got)
	}
	for _, r := range got {
		switch {
		case strings.ContainsRune(allowed, r):
		case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r), r == 0x2028, r == 0x2029,
			r >= 0xe0000 && r <= 0xe007f, r == 0x200b, r == 0x2060, r == 0xfeff:
			t.Fatalf("%q gave %q, which holds %U", in, got, r)
		}
	}
}

func checkCut(t fataler, s string, n int) {
	t.Helper()
	got := cleantext.Cut(s, n)
	if c := utf8.RuneCountInString(got); c > max(n, 0) {
		t.Fatalf("Cut(%q, %d) = %q, %d characters", s, n, got, c)
	}
	if again := cleantext.Cut(got, n); again != got {
		t.Fatalf("Cut(%q, %d) = %q, and once more = %q", s, n, got, again)
	}
	if kept, cut := strings.CutSuffix(got, "…"); got != s && n > 0 && (!cut || !strings.HasPrefix(s, kept)) {
		t.Fatalf("Cut(%q, %d) = %q is no beginning of it", s, n, got)
	}
}

func FuzzClean(f *testing.F) {
	f.Add("\x1b]8;;x\x1b\\a\x1b]8;;\x1b\\\u202e👨\u200d👩", 3)
	f.Add("\x1b[31m\r\n\xff\u009b1m", 1)
	f.Fuzz(func(t *testing.T, s string, n int) {
		checkLine(t, s)
		checkBlock(t, s)
		checkCut(t, s, n)
		if ascii := strings.Map(func(r rune) rune {
			if r < ' ' || r > '~' {
				return -1
			}
			return r
		}, s); cleantext.Line(ascii) != ascii {
			t.Fatalf("Line changed clean text %q", ascii)
		}
	})
}

const cleanASCII = "Fix the login form: the second attempt keeps the first error. "

func TestCleanTextIsNotCopied(t *testing.T) {
	for _, s := range []string{cleanASCII, "中文 می\u200cخواهم ❤\ufe0f"} {
		if n := testing.AllocsPerRun(100, func() {
			cleantext.Line(s)
			cleantext.Block(s)
			cleantext.Cut(s, 1000)
		}); n != 0 {
			t.Errorf("%q: %v allocations, want none", s, n)
		}
	}
}

func BenchmarkLine(b *testing.B) {
	for _, bm := range []struct{ name, s string }{
		{"clean", strings.Repeat(cleanASCII, 16)},
		{"chinese", strings.Repeat("修复登录表单", 50)},
		{"colours", strings.Repeat("\x1b[31mred\x1b[0m text and more text ", 32)},
		{"unclosed", strings.Repeat("\x1b]", 512)},
	} {
		b.Run(bm.name, func(b *testing.B) {
			b.SetBytes(int64(len(bm.s)))
			b.ReportAllocs()
			for b.Loop() {
				cleantext.Line(bm.s)
			}
		})
	}
}

func TestHead(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		s          string
		n          int
		head, tail string
	}{
		{"", 3, "", ""}, {"abc", 3, "abc", "abc"}, {"abcd", 3, "…", "…"}, {"abcdef", 5, "ab…", "…ef"}, {"abcd", 2, "", ""}, {"abc", 0, "", ""},
		{"aöböc", 5, "a…", "…c"}, {"ab\xff", 5, "ab", "ab"}, {"\xffabcdef\xff", 5, "a…", "…f"},
	} {
		if head, tail := cleantext.Head(c.s, c.n), cleantext.Tail(c.s, c.n); head != c.head || tail != c.tail {
			t.Errorf("Head(%q, %d) is %q, Tail %q; want %q, %q", c.s, c.n, head, tail, c.head, c.tail)
		}
	}
}

func TestUnclosed(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "", "a": "a", "a\x1b]8;;http": "a", "a\x1b]8;;http\x1b": "a", "a\x1bP": "a", "é\u009d0;x": "é", "a\x1b_x": "a", "a\x1b^x": "a", "a\x1bXx": "a",
		"a\x1b]0;x\x07b": "a\x1b]0;x\x07b", "a\x1b]0;x\x1b\\": "a\x1b]0;x\x1b\\", "a\x1b]0;x\nb": "a\x1b]0;x\nb",
		"a\x1b[31": "a", "a\x1b": "a", "a\x1b[": "a", "a\u009b3": "a", "a\x1b(": "a", "a\x1b[31m": "a\x1b[31m", "a\x1b(B": "a\x1b(B", "a\u009b3mb": "a\u009b3mb", "a\nb": "a\nb", "\x1b]0;x\x1b[31mb": "\x1b]0;x\x1b[31mb", "\x1b]a\x1b]b": "\x1b]a",
	} {
		if got := text[:cleantext.Unclosed(text)]; got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestRest(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "", "abc": "", "8;;http://x\x07b": "8;;http://x\x07", "x\x1b\\b": "x\x1b\\", "x\u009cb": "x\u009c", "é\x07b": "é\x07", "38;2;1mb": "38;2;1m", "1mb": "1m",
		"x\ny\x07": "", "x\x1b[1my": "", "12": "", ";": "", "1 qb": "1 q", "mb": "", "[31mb": "[31m", "\x9b31mb": "\x9b31m", "[info]": "", "[": "",
	} {
		if got := text[:cleantext.Rest(text)]; got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
