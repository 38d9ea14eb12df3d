package export

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/foreign"
	"github.com/copse-dev/copse/internal/lazyregexp"
	"github.com/copse-dev/copse/internal/lockedstore"
)

// Two markers enclose the section of AGENTS.md. The second has the hash of the text between them.
const (
	agentsFile   = "AGENTS.md"
	sectionBegin = "<!-- copse:begin -->\n"
	// listed is the maximum size in bytes of the list of commands. Clients put the whole file at
	// the start of each session.
	listed = 2 << 10
)

func sectionEnd(inner string) string { return "<!-- copse:end sha256:" + hash(inner) + " -->\n" }

var (
	beginMark = lazyregexp.New(`(?m)^<!-- copse:begin -->\r?\n`)
	endMark   = lazyregexp.New(`(?m)^<!-- copse:end sha256:([0-9a-f]{16}) -->\r?(?:\n|\z)`)
)

// section returns the text of the section. The advice is that of copse.
func section(advice []string, commands []Command) string {
	own := foreign.Own
	begin := []foreign.Line{
		own("## Working context from copse"), {},
		own("copse knows the state of the work in this project. Use its MCP tools:"), {},
	}
	var said strings.Builder
	for _, text := range advice {
		said.WriteString("- " + text + "\n")
	}
	lines := []foreign.Line{
		{},
		own("Without the tools, use the same commands in a shell, and add `--json` to a list:"), {},
		own("- Before you start, and after a long session: `copse context`, later with `--since TOKEN`"),
		own("- The stack of this branch, and what conflicts: `copse branch stack`, `copse stack`, `copse conflicts`"),
		own("- Work items: `copse item ready`, `copse item claim`, `copse item update`, `copse item release`, `copse item create`"),
		own("- Tasks of the justfile: `copse task run`"),
	}
	if len(commands) > 0 {
		lines = append(
			lines, foreign.Line{},
			own("The project has instructions for recurring work. Get those of a prompt with the tool `execute`, or with `copse prompt run`, and follow them:"),
			foreign.Line{},
		)
	}
	room := listed
	for i, c := range commands {
		line := own("- ").Name(c.String())
		if text := cleantext.Line(c.Description); text != "" {
			line = line.Own(": ").Name(cleantext.Cut(text, 120))
		}
		if room -= len(line.Markdown()) + 1; room < 0 {
			lines = append(lines, own("- ").Int(len(commands)-i).Own(" more: the tool `search`, or `copse prompt search`"))
			break
		}
		lines = append(lines, line)
	}
	return foreign.Markdown(begin) + said.String() + foreign.Markdown(lines)
}

// agentsPlan compares the section with that of the file AGENTS.md below base.
func agentsPlan(base, inner string) (*Plan, error) {
	file := lockedstore.ForeignIn(base, filepath.Join(base, agentsFile))
	before, err := file.Read()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read %s: %w", agentsFile, err)
	}
	f := File{Name: agentsFile, Section: true, before: before, missing: err != nil}
	begin, end, err := findSection(before)
	if err != nil {
		return nil, err
	}
	wanted := ""
	if inner != "" {
		wanted = sectionBegin + inner + sectionEnd(inner)
	}
	f.State = sectionState(before, begin, end, wanted)
	if f.State == "" { // nothing exists, and nothing shall exist
		return &Plan{base: base}, nil
	}
	f.content = withSection(before, begin, end, wanted)
	return &Plan{base: base, Files: []File{f}}, nil
}

// findSection returns the position of the section in a text; begin is -1 without one.
func findSection(text []byte) (begin, end int, err error) {
	begins, ends := beginMark.Get().FindAllIndex(text, -1), endMark.Get().FindAllIndex(text, -1)
	switch {
	case len(begins) == 0 && len(ends) == 0:
		return -1, -1, nil
	case len(begins) == 1 && len(ends) == 1 && begins[0][1] <= ends[0][0]:
		return begins[0][0], ends[0][1], nil
	}
	return 0, 0, fmt.Errorf("%s has %s %q and %s beginning with %q, and copse needs one of each; correct the file",
		agentsFile, cleantext.Count(len(begins), "line"), strings.TrimSpace(sectionBegin), cleantext.Count(len(ends), "line"), "<!-- copse:end")
}

// sectionState compares the section of a text with the wanted one.
func sectionState(text []byte, begin, end int, wanted string) State {
	if begin < 0 {
		if wanted == "" {
			return ""
		}
		return Missing
	}
	is := strings.ReplaceAll(string(text[begin:end]), "\r\n", "\n")
	if !strings.HasSuffix(is, "\n") {
		is += "\n"
	}
	mark := endMark.Get().FindStringSubmatchIndex(is)
	switch {
	case is == wanted:
		return Current
	case is[mark[2]:mark[3]] != hash(is[len(sectionBegin):mark[0]]):
		return Edited
	case wanted == "":
		return Gone
	}
	return Stale
}

// withSection returns a text with the intended section instead of the existing one, or at the end.
func withSection(text []byte, begin, end int, wanted string) string {
	if bytes.Contains(text, []byte("\r\n")) {
		wanted = strings.ReplaceAll(wanted, "\n", "\r\n")
	}
	if begin >= 0 {
		before, after := string(text[:begin]), string(text[end:])
		if wanted == "" { // the empty line before it goes, too
			for _, blank := range []string{"\r\n\r\n", "\n\n"} {
				if strings.HasSuffix(before, blank) {
					before = before[:len(before)-len(blank)/2]
					break
				}
			}
		}
		return before + wanted + after
	}
	before := string(text)
	if before == "" {
		return wanted
	}
	newline := "\n"
	if strings.Contains(before, "\r\n") {
		newline = "\r\n"
	}
	if !strings.HasSuffix(before, "\n") {
		before += newline
	}
	return before + newline + wanted
}

// writeSection writes the file, or removes it if it would be empty.
func (p *Plan) writeSection(root *os.Root, f File) error {
	if f.missing {
		return replace(root, f)
	}
	if info, err := root.Lstat(f.Name); err == nil && info.Mode().IsRegular() && f.content == "" {
		return root.Remove(f.Name)
	}
	return lockedstore.ForeignIn(p.base, filepath.Join(p.base, f.Name)).Replace(f.before, []byte(f.content))
}

// Removal returns the plan that removes what copse wrote for a client below base. Files that a
// person has changed stay, unless they are forced.
func Removal(ctx context.Context, client Client, base string) (*Plan, error) {
	if client.section {
		return agentsPlan(base, "")
	}
	return New(ctx, client, base, nil)
}
