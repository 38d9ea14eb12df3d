package copse_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"html"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"

	"github.com/copse-dev/copse/internal/test/demo"
)

// drawing is a diagram with a background of its own, so that it can be read on a light page and
// on a dark one.
type drawing struct{ body bytes.Buffer }

// box draws a rectangle with a title, and lines below it.
func (d *drawing) box(class string, x, y, width, height int, title string, lines ...string) {
	fmt.Fprintf(&d.body, `<rect class="%s" x="%d" y="%d" width="%d" height="%d" rx="6"/>`+"\n", class, x, y, width, height)
	d.text("title", x+12, y+21, title)
	for i, line := range lines {
		d.text("small", x+12, y+39+17*i, line)
	}
}

// text writes a line. The style decides how it looks: title, small, note, or code.
func (d *drawing) text(class string, x, y int, text string) {
	fmt.Fprintf(&d.body, `<text class="%s" x="%d" y="%d" xml:space="preserve">%s</text>`+"\n", class, x, y, strings.ReplaceAll(html.EscapeString(text), " ", "\u00a0"))
}

// arrow draws a line through points, with a head at its end.
func (d *drawing) arrow(points ...int) {
	var list []string
	for i := 0; i+1 < len(points); i += 2 {
		list = append(list, fmt.Sprintf("%d,%d", points[i], points[i+1]))
	}
	fmt.Fprintf(&d.body, `<polyline class="line" points="%s" marker-end="url(#head)"/>`+"\n", strings.Join(list, " "))
}

// svg returns the diagram. The description is for those who cannot see it.
func (d *drawing) svg(width, height int, description string) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" role="img">
<title>%s</title>
<style>
text { font-family: system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; font-size: 13px; fill: #1d2430 }
.title { font-weight: 600 }
.small { font-size: 12px; fill: #465364 }
.note { font-size: 12px; fill: #2f6f4b; font-weight: 600 }
.code { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; font-size: 11.5px }
.page { fill: #ffffff; stroke: #d5dbe3 }
.plain { fill: #f3f6f9; stroke: #b9c4d0 }
.ours { fill: #e8f4ec; stroke: #6aa583 }
.line { fill: none; stroke: #6b7888; stroke-width: 1.5 }
#head path { fill: #6b7888 }
@media (prefers-color-scheme: dark) {
text { fill: #e3e9f0 }
.small { fill: #aab6c4 }
.note { fill: #86cfa3 }
.page { fill: #171c24; stroke: #343d4a }
.plain { fill: #212936; stroke: #46536a }
.ours { fill: #1b3327; stroke: #4d8a68 }
.line { stroke: #8a97a8 }
#head path { fill: #8a97a8 }
}
</style>
<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto"><path d="M0,0 L8,4 L0,8 z"/></marker></defs>
<rect class="page" x="0.5" y="0.5" width="%d" height="%d" rx="8"/>
%s</svg>
`, width, height, width, height, html.EscapeString(description), width-1, height-1, d.body.String())
	return b.Bytes()
}

func diagram(t *testing.T, name string, picture []byte) {
	t.Helper()
	golden(t, filepath.Join("docs", "pictures", name+".svg"), picture)
}

// TestDiagrams keeps the pictures of the documentation up to date with what they show.
func TestDiagrams(t *testing.T) {
	t.Parallel()
	diagram(t, "stack", stackModel())
	diagram(t, "worktrees", worktreesModel())
	diagram(t, "conversation", conversation(demo.New(t)))
}

// stackModel shows what copse knows about a branch of a stack, and from where.
func stackModel() []byte {
	var d drawing
	for i, b := range []struct {
		name  string
		lines []string
	}{
		{"feature/SHOP-8-session", []string{"pull request #43 into feature/SHOP-7-login", "issue SHOP-8, work item 2, worktree shop"}},
		{"feature/SHOP-7-login", []string{"pull request #42 into main", "issue SHOP-7"}},
		{"main", []string{"the trunk: the stack ends here"}},
	} {
		y := 24 + 104*i
		class := "ours"
		if b.name == "main" {
			class = "plain"
		}
		d.box(class, 120, y, 320, 72, b.name, b.lines...)
		if i < 2 {
			d.arrow(280, y+72, 280, y+102)
			d.text("small", 290, y+93, "parent")
		}
	}
	d.arrow(100, 270, 100, 40)
	d.text("small", 20, 150, "upstack")
	d.text("small", 20, 167, "is above")
	d.text("note", 470, 45, "copse reads, and changes nothing:")
	for i, line := range []string{
		"parents: .twig/state.json, git-spice,",
		"  Graphite, git-town, git-machete, gh-stack, git",
		"commits ahead and behind: git",
		"reviews, checks, merge state: GitHub",
		"issues: Jira",
		"items: .tic, or a database",
		"who works where: running MCP clients",
	} {
		d.text("small", 470, 69+19*i, line)
	}
	d.text("note", 470, 224, "and answers in one call:")
	d.text("small", 470, 247, "what blocks the stack first, and the next")
	d.text("small", 470, 266, "command of your stack tool")
	return d.svg(810, 328, "A stack of three branches. Each branch has a parent, and the stack ends at the trunk. copse knows the pull request, issue, work item, and worktree of each branch.")
}

// worktreesModel shows which servers and clients belong to which worktree, and what they share.
func worktreesModel() []byte {
	var d drawing
	for i, w := range []struct{ client, name, branch string }{
		{"Claude Code", "shop", "branch main"},
		{"Codex", "shop/.worktrees/3-log-out", "tic/3-log-out, work item 3"},
		{"Cursor", "shop/.worktrees/4-help", "tic/4-help, work item 4"},
	} {
		x := 20 + 250*i
		d.box("plain", x, 20, 230, 48, w.client, "an MCP client")
		d.arrow(x+70, 68, x+70, 108)
		d.text("small", x+80, 92, "starts, on stdio")
		d.box("ours", x, 112, 230, 48, "copse mcp serve", "answers for its worktree")
		d.arrow(x+70, 160, x+70, 196)
		d.box("plain", x, 200, 230, 66, w.name, w.branch, "files, changes, the last task")
		d.arrow(x+70, 266, x+70, 304)
	}
	d.box("ours", 20, 308, 730, 66, "Shared by all worktrees of the repository",
		"tracked branches (.twig), work items (a shared store or a database) with their claims,",
		"answers of GitHub and Jira, who works where")
	d.box("ours", 20, 414, 730, 66, "copse up",
		"serves the same worktrees over HTTP, one port and one token for each, from port 3000 upward,",
		"one address for all of them, and the page of copse board")
	d.arrow(385, 414, 385, 378)
	return d.svg(770, 500, "Three MCP clients, each with a copse server of its own in a worktree of its own. All worktrees share branches, work items, and answers. copse up serves the same worktrees over HTTP.")
}

// conversation shows one question with the commands that it takes, and with copse.
func conversation(demo *demo.Demo) []byte {
	var d drawing
	const question = "What am I working on, and what blocks it?"
	d.box("plain", 20, 20, 350, 36, question)
	d.box("plain", 400, 20, 480, 36, question)
	d.text("note", 20, 84, "Without copse: the assistant runs")
	for i, line := range []string{
		"$ git status", "$ git log --oneline main..", "$ gh pr view --json title,body,reviews,…",
		"$ gh pr checks", "$ gh api …/pulls/43/comments", "$ gh pr view 42 --json …    # the one below",
		"$ cat TODO.md",
	} {
		d.text("code", 20, 108+20*i, line)
	}
	d.text("small", 20, 262, "…and asks you for the Jira issue, and what the")
	d.text("small", 20, 279, "branch is stacked on.")
	// The paths and the token of a run differ in length.
	answer := strings.ReplaceAll(demo.Run("context", "--sections", "project,stack,items", "--fresh"), demo.Dir, "/home/ada/shop")
	answer = sinceToken.ReplaceAllString(answer, "c1kq7dgzrm2x4a")
	d.text("note", 400, 84, fmt.Sprintf("With copse: one call of get_project_context, %d bytes", len(answer)))
	y := 108
	for line := range strings.Lines(answer) {
		line = strings.TrimRight(line, "\n")
		if line == "" || strings.HasPrefix(line, "Root:") || strings.HasPrefix(line, "Later,") || strings.HasPrefix(line, "GitHub:") {
			continue
		}
		d.text("code", 400, y, shortened(line, 66))
		y += 18
	}
	return d.svg(900, y+10, "The same question twice. Without copse, the assistant runs seven commands and asks for the rest. With copse, one call returns the branch, its stack, and the work items.")
}

// shortened returns a text of at most n characters.
func shortened(text string, n int) string {
	if r := []rune(text); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return text
}

// what says in a line what a layer does, by its name.
var what = map[string]string{
	"programs":       "copse, twig-mcp, tic: each about twenty lines",
	"surface":        "tools, command line, and page: form, no decisions",
	"workflow":       "what every surface shares: typed results, neutral errors",
	"session":        "one repository, opened once, one view for each call",
	"domain":         "branches, items, prompts, files, recipes: rules and formats",
	"infrastructure": "one job each: git, GitHub, Jira, locked files, processes",
}

// TestArchitecturePicture draws the layers that TestLayers checks, with their packages.
func TestArchitecturePicture(t *testing.T) {
	t.Parallel()
	imports := make([]map[int]bool, len(layers))
	for i := range imports {
		imports[i] = make(map[int]bool)
	}
	for _, p := range load(t, packages.NeedName|packages.NeedImports, "./...") {
		from := layerOf(p.PkgPath)
		if from < 0 {
			continue
		}
		for path := range p.Imports {
			if to := layerOf(path); strings.HasPrefix(path, module) && to >= 0 && to != from {
				imports[from][to] = true
			}
		}
	}
	var d drawing
	d.text("note", 20, 30, "Imports point down only. A test draws this picture from the imports.")
	y := 48
	for i, layer := range slices.Backward(layers) {
		var parts []string
		for _, prefix := range layer.prefixes {
			parts = append(parts, strings.TrimPrefix(prefix, "internal/"))
		}
		lines := wrapped(strings.Join(parts, "  "), 92)
		class := "ours"
		if i == len(layers)-1 || i == 0 {
			class = "plain"
		}
		height := 52 + 17*len(lines)
		d.box(class, 20, y, 640, height, layer.name, append([]string{what[layer.name]}, lines...)...)
		if what[layer.name] == "" {
			t.Errorf("the layer %s has no description", layer.name)
		}
		if i > 0 {
			var below []string
			for to := i - 1; to >= 0; to-- {
				if imports[i][to] {
					below = append(below, layers[to].name)
				}
			}
			d.arrow(60, y+height, 60, y+height+28)
			d.text("small", 72, y+height+19, "imports "+strings.Join(below, ", "))
		}
		y += height + 30
	}
	diagram(t, "architecture", d.svg(680, y-10, "The layers of copse from programs down to infrastructure, each with its packages."))
}

// wrapped returns a text in lines of at most n characters.
func wrapped(text string, n int) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && len(line)+2+len(word) > n {
			lines = append(lines, line)
			line = ""
		}
		if line != "" {
			line += "  "
		}
		line += word
	}
	return append(lines, line)
}

// Pictures are well-formed, small, described, self-contained, and shown by a page.
func TestPicturesAreShown(t *testing.T) {
	t.Parallel()
	var pages strings.Builder
	pages.WriteString(readPage(t, "README.md"))
	for _, pattern := range []string{"docs/*.md", "docs/guide/*.md"} {
		found, err := filepath.Glob(filepath.FromSlash(pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, page := range found {
			pages.WriteString(readPage(t, page))
		}
	}
	pictures, err := filepath.Glob(filepath.Join("docs", "pictures", "*.svg"))
	if err != nil || len(pictures) < 5 {
		t.Fatal(pictures, err)
	}
	for _, path := range pictures {
		text := readPage(t, path)
		if len(text) > 60_000 {
			t.Errorf("%s has %d bytes", path, len(text))
		}
		if !strings.Contains(text, "<title>") || !strings.Contains(text, `role="img"`) {
			t.Errorf("%s has no description", path)
		}
		if strings.Contains(text, "href=") || strings.Contains(text, "url(http") || strings.Contains(text, "<script") {
			t.Errorf("%s needs something else", path)
		}
		if !strings.Contains(pages.String(), "pictures/"+filepath.Base(path)) {
			t.Errorf("no page shows %s", path)
		}
		for dec := xml.NewDecoder(strings.NewReader(text)); ; {
			if _, err := dec.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Errorf("%s: %v", path, err)
				break
			}
		}
	}
}

func readPage(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
