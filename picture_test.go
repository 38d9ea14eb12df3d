package copse_test

import (
	"bytes"
	"fmt"
	"html"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/clipperhouse/displaywidth"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/cli/copse"
	"github.com/copse-dev/copse/internal/test/demo"
)

// pictureWidth is how wide the terminal of the picture is.
const pictureWidth = 118

// screen is a terminal in memory.
type screen struct{ bytes.Buffer }

func (*screen) Width() int { return pictureWidth }

// TestPicture keeps the picture in the README up to date with the program.
func TestPicture(t *testing.T) {
	t.Parallel()
	d := demo.New(t)
	var lines []string
	for _, command := range []string{"branch tree", "branch status --fresh", "item ready"} {
		var out screen
		env := d.Env(strings.Fields(command)...)
		env.Stdout = &out
		if code := copse.Run(t.Context(), env); code != app.OK {
			t.Fatalf("%s ends with %d: %v", command, code, env.Stderr)
		}
		lines = append(lines, "\x1b[32m$\x1b[0m \x1b[1mcopse "+command+"\x1b[0m")
		lines = append(lines, strings.Split(strings.TrimRight(out.String(), "\n"), "\n")...)
		lines = append(lines, "")
	}
	golden(t, filepath.Join("docs", "terminal.svg"), svg(lines[:len(lines)-1]))
}

var sgr = regexp.MustCompile("\x1b\\[([0-9;]*)m")

// shown is a part of a line in a picture of a terminal, and the second at which it appears.
type shown struct {
	text string
	at   float64
}

// svg draws lines with the few styles that copse uses.
func svg(lines []string) []byte {
	var all [][]shown
	for _, line := range lines {
		all = append(all, []shown{{text: line}})
	}
	return terminalPicture(pictureWidth, "copse in a terminal", all)
}

// terminalPicture draws a terminal whose parts appear one after the other. Those who ask for
// less motion, and programs that do not animate, see all of them at once.
func terminalPicture(columns int, title string, lines [][]shown) []byte {
	const (
		lineHeight, charWidth = 19, 8.5
		padding, bar          = 16, 30
	)
	width := float64(columns)*charWidth + 2*padding
	height := len(lines)*lineHeight + 2*padding + bar
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%g" height="%d" viewBox="0 0 %g %d" role="img" aria-label="%s">
<title>%s</title>
`, width, height, width, height, title, title)
	if len(lines) > 0 && lines[len(lines)-1][0].at > 0 {
		b.WriteString(`<style>
.later { animation-name: wait }
@keyframes wait { from, to { opacity: 0 } }
@media (prefers-reduced-motion: reduce) { .later { animation: none } }
</style>
`)
	}
	b.WriteString(`<rect width="100%" height="100%" rx="8" fill="#1d2430"/>
<circle cx="20" cy="18" r="6" fill="#e0675a"/><circle cx="40" cy="18" r="6" fill="#e2b14c"/><circle cx="60" cy="18" r="6" fill="#68b35f"/>
<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="14" fill="#d5dbe5">
`)
	for i, line := range lines {
		fmt.Fprintf(&b, `<text x="%d" y="%d">`, padding, bar+padding+i*lineHeight+4)
		column := 0
		for _, part := range line {
			style, rest := "", part.text
			for rest != "" {
				at := sgr.FindStringSubmatchIndex(rest)
				text := rest
				if at != nil {
					text = rest[:at[0]]
				}
				if text != "" {
					// Each piece says how long it is, so that every font has the same columns.
					n := displaywidth.String(text)
					later := ""
					if part.at > 0 {
						later = fmt.Sprintf(` class="later" style="animation-duration: %.1fs"`, part.at)
					}
					// Spaces that no browser collapses.
					text = strings.ReplaceAll(text, " ", "\u00a0")
					fmt.Fprintf(&b, `<tspan x="%.2f" textLength="%.2f" lengthAdjust="spacingAndGlyphs"%s%s>%s</tspan>`,
						padding+float64(column)*charWidth, float64(n)*charWidth, style, later, html.EscapeString(text))
					column += n
				}
				if at == nil {
					break
				}
				style = map[string]string{"1": ` font-weight="bold" fill="#ffffff"`, "2": ` fill="#8b97a8"`, "32": ` fill="#7fc97a"`}[rest[at[2]:at[3]]]
				rest = rest[at[1]:]
			}
		}
		b.WriteString("</text>\n")
	}
	b.WriteString("</g>\n</svg>\n")
	return b.Bytes()
}
