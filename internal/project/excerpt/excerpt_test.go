package excerpt_test

import (
	"strings"
	"testing"

	"github.com/copse-dev/copse/internal/project/excerpt"
	"github.com/copse-dev/copse/internal/secret"
)

// A secret in the middle of which an excerpt begins or ends leaves no part, and the columns remain those of the file.
func TestSecretsAtCuts(t *testing.T) {
	t.Parallel()
	const token = "ghp_0123456789abcdefABCDEF"
	known := secret.New(nil)
	known.Add(token)
	ctx := secret.With(t.Context(), known)
	line := strings.Repeat("x", 200<<10) + token + strings.Repeat("y", 200<<10)
	for _, size := range []int64{int64(len(line)), 100 << 20} { // the second is too large to count its lines
		for at := range len(token) {
			for name, c := range map[string]struct {
				lines excerpt.Lines
				want  string
			}{
				"beginning": {excerpt.Lines{Column: 200<<10 + at + 1, Bytes: 100}, secret.Mask + strings.Repeat("y", 100-len(token)+at)},
				"end":       {excerpt.Lines{Column: 200<<10 - 99 + at, Bytes: 100}, strings.Repeat("x", 100-at) + secret.Mask},
				"both":      {excerpt.Lines{Column: 200<<10 + at/2 + 1, Bytes: 5}, secret.Mask},
			} {
				if name == "end" && at == 0 {
					continue
				}
				text, err := excerpt.Read(ctx, strings.NewReader(line), size, c.lines)
				if err != nil || text.Content != c.want {
					t.Fatalf("%s, cut at %d: %q, %v; want %q", name, at, text.Content, err, c.want)
				}
			}
		}
	}
	// One that ends just before what the reader has in its memory.
	for at := 1; at < len(token)-1; at++ {
		line := strings.Repeat("x", 64<<10-at-1) + token + strings.Repeat("y", 300<<10)
		for _, size := range []int64{int64(len(line)), 100 << 20} {
			text, err := excerpt.Read(ctx, strings.NewReader(line), size, excerpt.Lines{Column: 64<<10 - at - 100 + 1, Bytes: 100})
			if want := strings.Repeat("x", 99) + secret.Mask; err != nil || text.Content != want {
				t.Errorf("%d bytes before the end of the memory: %q, %v; want %q", at, text.Content, err, want)
			}
		}
	}
	// An excerpt that ends where the reader has no more in its memory.
	for at := range len(token) {
		line := strings.Repeat("x", excerpt.MaxText-at) + token + strings.Repeat("y", 1<<10)
		for _, size := range []int64{int64(len(line)), 100 << 20} {
			text, err := excerpt.Read(ctx, strings.NewReader(line), size, excerpt.Lines{})
			if want := strings.Repeat("x", excerpt.MaxText-at); err != nil || strings.ReplaceAll(text.Content, secret.Mask, "") != want || strings.Contains(text.Content, secret.Mask) != (at > 0) {
				t.Errorf("at the end of the memory, %d: %q, %v", at, text.Content[len(text.Content)-40:], err)
			}
		}
	}
}
