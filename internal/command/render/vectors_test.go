package render_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/copse-dev/copse/internal/command"
	"github.com/copse-dev/copse/internal/command/render"
)

// oddTemplates have bytes that a text file cannot show.
var oddTemplates = map[string]string{
	"bom": "\ufeff---\na: 1\n---\nbody\n", "crlf": "---\r\na: 1\r\n---\r\n\r\nbody\r\nline\r\n",
	"blanks": "---   \na: 1\n---\t\u00a0\n\n   indented\nlast", "empty": "", "nothing": "---\na: 1\n---\n", "pair": "---\n---\nbody\n",
	"around": "start\n{input_text}\nend\n", "opens": "{input_text}\n---\nbody\n", "nul": "nul=\x00 {uv-a}\n",
	"across": "---\na: {{open\n---\n{{uv-a}}\n",
}

// vector is a case of testdata/vectors.txt.
type vector struct {
	line    int
	request render.Request
	want    string
	refused bool
}

func vectors(t *testing.T) []vector {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "vectors.txt"))
	if err != nil {
		t.Fatal(err)
	}
	var list []vector
	for i, line := range strings.Split(string(data), "\n") {
		kind, rest, _ := strings.Cut(line, " ")
		switch kind {
		case "", "#":
		case "<", "=", "!":
			text, err := strconv.Unquote(rest)
			if err != nil {
				t.Fatalf("line %d: %v", i+1, err)
			}
			v := &list[len(list)-1]
			if kind == "<" {
				v.request.InputText = text
			} else {
				v.want, v.refused = text, kind == "!"
			}
		default:
			w := words(t, line)
			list = append(list, vector{line: i + 1, request: render.Request{
				Agent: "climpt", ID: command.ID{C1: w[0], C2: w[1], C3: w[2]}, Args: render.ParseFlags(w[3:]),
			}})
		}
	}
	return list
}

// words splits a line at blanks; words in quotes are as in Go.
func words(t *testing.T, line string) []string {
	t.Helper()
	var list []string
	for line = strings.TrimSpace(line); line != ""; line = strings.TrimSpace(line) {
		if line[0] != '"' {
			word, rest, _ := strings.Cut(line, " ")
			list, line = append(list, word), rest
			continue
		}
		quoted, err := strconv.QuotedPrefix(line)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		word, err := strconv.Unquote(quoted)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		list, line = append(list, word), line[len(quoted):]
	}
	return list
}

func TestVectors(t *testing.T) {
	t.Parallel()
	p := project(t)
	for name, template := range oddTemplates {
		dir := filepath.Join(p.Path, ".agent/climpt/prompts/demo/cut", name)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "f_default.md"), []byte(template), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, v := range vectors(t) {
		got, err := render.Render(p, v.request)
		text := strings.ReplaceAll(got.Prompt, p.Path, "CWD")
		if err != nil {
			text = err.Error()
		}
		if refused := err != nil; refused != v.refused || text != v.want {
			t.Errorf("vectors.txt:%d: %s", v.line, cmp.Diff(v.want, text))
		}
	}
}
