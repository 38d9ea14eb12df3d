package structure

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/git/gittest"
	"github.com/copse-dev/copse/internal/test/mdshape"
	"github.com/copse-dev/copse/internal/test/stdio"
)

// troubles adds what cannot be read, so that errors and warnings quote it.
func (p *place) troubles(t *testing.T, text string) {
	t.Helper()
	write := func(name, content string) { gittest.Write(t, filepath.Join(p.dir, name), content) }
	write(".tic/items/3.md", "---\nid: \"3\"\ntitle: "+marshal(text)+"\nstatus: ["+marshal(text)+"\n---\n")
	write(".tic/items/4.md", "---\nid: \"4\"\n"+marshal(text)+": "+marshal(text)+"\ntype: {"+marshal(text)+": 1}\n---\n")
	write(filepath.Join(".tic/items", fileName(text, ".md")), "no item\n")
	if p.tasks {
		write("justfile", justfile(text)+"\n"+strings.NewReplacer("leak a=", "one a=", " *b", "").Replace(justfile(text)))
	}
}

// errors collects what a server and the commands say when something is wrong, each text
// block apart. JSON is left out: its form tells whose text it is.
func (p *place) errors(t *testing.T, text string) map[string][]string {
	t.Helper()
	server, err := stdio.SpawnWith(t.Context(), p.dir, p.environ, os.Args[0], "mcp", "serve")
	if err != nil {
		t.Fatal(err)
	}
	defer server.End()
	found := make(map[string][]string)
	type object = map[string]any
	ask := func(name, method string, params object) {
		line, err := server.Request(method, marshal(params))
		if err != nil { // an error of the protocol has the answer behind its words
			_, rest, _ := strings.Cut(err.Error(), "{")
			line = []byte("{" + rest)
		}
		var answer struct {
			Error  struct{ Message string }
			Result struct {
				Content, Contents []struct{ Text string }
				Messages          []struct{ Content struct{ Text string } }
			}
		}
		if err := json.Unmarshal(line, &answer); err != nil {
			t.Fatalf("%s: %v in %s", name, err, line)
		}
		all := []string{answer.Error.Message}
		for _, c := range append(answer.Result.Content, answer.Result.Contents...) {
			all = append(all, c.Text)
		}
		for _, m := range answer.Result.Messages {
			all = append(all, m.Content.Text)
		}
		for _, text := range all {
			if strings.HasPrefix(name, "resource ") {
				text, _, _ = strings.Cut(text, "\n\nWorktree: ") // an unknown resource has no worktree
			}
			if text != "" && !json.Valid([]byte(text)) {
				found[name] = append(found[name], text)
			}
		}
	}
	text = valid(text)
	for name, args := range map[string]object{
		"read_file":      {"path": text + "/nowhere"},
		"list_directory": {"path": "x" + text},
		"show_item":      {"id": 3},
		"update_item":    {"id": 1, "status": "x" + text},
		"claim_item":     {"id": 3},
		"release_item":   {"id": 3},
		"create_item":    {"title": text, "type": "x" + text},
		"list_items":     {"status": "x" + text, "iteration": "all"},
		"get_item_tree":  {"status": "x" + text, "iteration": "x" + text},
		"search_items":   {"query": "x" + text},
		"add_comment":    {"id": 3, "text": text},
		"execute":        {"agent": "climpt", "c1": "git", "c2": "write0", "c3": "thing", "options": object{"edition": "x" + text}},
		"stop_task":      {"id": "x" + text},
		"get_task":       {"id": "x" + text},
		"get_conflicts":  {"branches": []string{"x" + text}},
		"run_just_task":  {"task_name": "x" + text},
		"search_all":     {"query": "x", "kinds": []string{text}},
		"set_iteration":  {"name": ""},
		"get_worktrees":  {"worktree": "x" + text},
		"reload":         {"x" + text: 1},
		"get_config":     {text: 1},
	} {
		ask(name, "tools/call", object{"name": name, "arguments": args})
	}
	for _, name := range []string{"claim_item", "release_item"} {
		ask(name+", held", "tools/call", object{"name": name, "arguments": object{"id": claimed}})
	}
	if p.tasks {
		ask("run_just_task, too many", "tools/call", object{"name": "run_just_task", "arguments": object{"task_name": "one", "arguments": []string{text, text}}})
	}
	for name, uri := range map[string]string{
		"item":    "tic://item/" + url.PathEscape(text),
		"branch":  "twig://branch/" + url.PathEscape(text) + "/context",
		"agent":   "climpt://" + url.PathEscape(text) + "/a/b/c",
		"command": "climpt://climpt/git/" + url.PathEscape(text) + "/c",
		"none":    "x://" + url.PathEscape(text),
	} {
		ask("resource "+name, "resources/read", object{"uri": uri})
	}
	ask("tool", "tools/call", object{"name": text})
	ask("prompt", "prompts/get", object{"name": text})
	ask("prompt without template", "prompts/get", object{"name": "git-write1-thing"})

	argument := strings.ReplaceAll(text, "\x00", "")
	for i, args := range [][]string{
		{"item", "list"}, {"item", "list", "--status", argument}, {"item", "show", "3"}, {"item", "show", "x" + argument},
		{"item", "update", "1", "--status", "x" + argument}, {"item", "doctor"}, {"item", "claim", "2"}, {"item", "release", "2"},
		{"task", "run", "x" + argument}, {"task", "run", "one", argument, argument}, {"task", "stop", "x" + argument},
		{"branch", "link", "x" + argument, "--pr", "1"}, {"branch", "tree", "x" + argument}, {"branch", "root", "add", "x" + argument},
		{"command", "show", "git", "x" + argument, "thing"}, {"command", "run", "git", "write1", "thing"}, {"command", "check"},
		{"x" + argument}, {"item", "--x" + argument}, {"conflicts"}, {"context", "--sections", "x" + argument}, {"mcp", "install", "--client", "x" + argument},
	} {
		cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
		var stderr bytes.Buffer
		cmd.Dir, cmd.Env, cmd.Stderr = p.dir, p.environ, &stderr
		_ = cmd.Run() // most of them fail
		name := fmt.Sprintf("copse command line %d", i)
		for line := range strings.Lines(stderr.String()) {
			found[name] = append(found[name], strings.TrimSuffix(line, "\n"))
		}
	}
	return found
}

// No text of strangers writes a line of an error or a warning, or gives it a structure.
func TestForeignTextInErrors(t *testing.T) {
	t.Parallel()
	p := newPlace(t, harmless)
	p.troubles(t, harmless)
	want := p.errors(t, harmless)
	quoting := 0
	for _, blocks := range want {
		if strings.Contains(strings.Join(blocks, " "), "harmless") {
			quoting++
		}
	}
	if quoting < 20 {
		t.Errorf("only %d errors and warnings quote the text: %q", quoting, want)
	}
	if held := strings.Join(want["claim_item, held"], " "); !strings.Contains(held, harmless) {
		t.Errorf("the error of a claim does not name its holder: %q", held)
	}
	for name, text := range hostile {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t, text)
			p.troubles(t, text)
			for what, got := range p.errors(t, text) {
				for _, block := range got {
					for line := range strings.Lines(block) {
						if clean := cleantext.Line(strings.TrimSuffix(line, "\n")); clean != strings.TrimSuffix(line, "\n") {
							t.Errorf("%s: control or invisible characters: %q", what, line)
						}
						if shape := mdshape.Of(line); line != "\n" && !strings.HasPrefix(shape, "Document\n Paragraph\n") {
							t.Errorf("%s: a line begins a block: %q", what, line)
						}
					}
				}
				if original, ok := want[what]; ok && lines(got) != lines(original) {
					t.Errorf("%s: %d lines, not %d: %q", what, lines(got), lines(original), got)
				}
			}
		})
	}
}

func lines(blocks []string) int {
	n := 0
	for _, block := range blocks {
		n += strings.Count(block, "\n") + 1
	}
	return n
}
