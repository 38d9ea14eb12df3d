package render_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/copse-dev/copse/internal/command/render"
)

var known = regexp.MustCompile(`\{\s*(uv-a|input_text)\s*\}`)

// Whatever the texts are: no variable that has a value is left in the template's part,
// none is put in more often than it was asked for, and input is nowhere but where the
// template has it.
func FuzzSubstitute(f *testing.F) {
	for _, s := range []string{
		"{uv-a}", "{{{{uv-a}}}}", "---\n---", "${", "{input_text}{", "{{a {uv-a} b}}", "---\n{input_text}\n---\n{uv-b}", "{uv-{{uv-a}}}", "${uv-a}}}{{",
		"\ufeff---\r\n---\r\n", strings.Repeat("{", 100) + "uv-a" + strings.Repeat("}", 100),
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, template string) {
		if !utf8.ValidString(template) || strings.ContainsAny(template, "«»") {
			t.Skip("not what a template can be, or what this test looks for")
		}
		input := "« {uv-a} ${uv-a} {{uv-b}} »\n---\n«»"
		got, err := render.Substitute(template, map[string]string{"uv-a": "«a»", "input_text": input})
		if err != nil {
			return // too large
		}
		if !strings.HasSuffix(got.Prompt, "\n") || !utf8.ValidString(got.Prompt) {
			t.Errorf("%q: the prompt is %q", template, got.Prompt)
		}
		rest := strings.ReplaceAll(got.Prompt, input, "")
		if strings.Contains(rest, "« ") || strings.Contains(rest, " »") {
			t.Errorf("%q: the input was changed: %q", template, got.Prompt)
		}
		if m := known.FindString(rest); m != "" {
			t.Errorf("%q: %s is left in %q", template, m, got.Prompt)
		}
		if puts, asked := strings.Count(rest, "«a»"), strings.Count(template, "uv-a"); puts > asked {
			t.Errorf("%q: put in %d times instead of %d", template, puts, asked)
		}
		for _, name := range got.Missing {
			if !strings.Contains(template, name) {
				t.Errorf("%q: %s is missing", template, name)
			}
		}
	})
}

// A template cannot make a prompt without bounds out of a long value.
func TestLongPrompt(t *testing.T) {
	t.Parallel()
	_, err := render.Substitute(strings.Repeat("{input_text}\n", 5000), map[string]string{"input_text": strings.Repeat("x", 1000)})
	if err == nil || !strings.Contains(err.Error(), fmt.Sprint(render.MaxPrompt)) {
		t.Errorf("got %v", err)
	}
}

// The time for a byte is the same for every size.
func BenchmarkSubstitute(b *testing.B) {
	for name, unit := range map[string]string{
		"plain": "A line of {uv-a} text, {unknown} too.\n", "open": "{{", "dollar": "${", "dashes": "---\nx", "half": "{{uv-a}", "close": "}", "same": "{{uv-a}}",
	} {
		for _, size := range []int{32 << 10, 512 << 10} {
			text := strings.Repeat(unit, size/len(unit))
			b.Run(fmt.Sprintf("%s/%dK", name, size>>10), func(b *testing.B) {
				b.SetBytes(int64(size))
				for b.Loop() {
					if _, err := render.Substitute(text, map[string]string{"uv-a": "a"}); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
