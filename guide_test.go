package copse_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/copse-dev/copse/internal/test/demo"
	"github.com/copse-dev/copse/internal/toolset"
	"github.com/copse-dev/copse/internal/wiring/full"
)

// example is a block in a guide whose content is what a tool or a command really answers:
//
//	<!-- call get_branch_tree {"limit": 5} -->
//	<!-- run branch tree -->
var example = regexp.MustCompile("(?s)<!-- (call|run) ([^\n]*?) -->\n```(\\w*)\n(.*?)```\n")

// sinceToken is what an answer about the context ends with.
var sinceToken = regexp.MustCompile(`\bc1[a-z2-7]{8,}`)

// TestGuides keeps the examples in the guides true. They are about the repository of
// package demo.
func TestGuides(t *testing.T) {
	t.Parallel()
	pages, err := filepath.Glob(filepath.Join("docs", "guide", "*.md"))
	if err != nil || len(pages) == 0 {
		t.Fatal(pages, err)
	}
	for _, page := range pages {
		t.Run(filepath.Base(page), func(t *testing.T) {
			t.Parallel()
			d := demo.New(t)
			text, err := os.ReadFile(page)
			if err != nil {
				t.Fatal(err)
			}
			golden(t, page, example.ReplaceAllFunc(text, func(block []byte) []byte {
				m := example.FindSubmatch(block)
				answer := call
				if string(m[1]) == "run" {
					answer = run
				}
				text := strings.ReplaceAll(answer(t, d, string(m[2])), d.Dir, "/home/ada/shop")
				text = sinceToken.ReplaceAllString(text, "c1kq7d…") // it depends on the directory
				return []byte("<!-- " + string(m[1]) + " " + string(m[2]) + " -->\n```" + string(m[3]) + "\n" + strings.TrimRight(text, "\n") + "\n```\n")
			}))
		})
	}
}

// run runs a command and returns what it prints.
func run(_ *testing.T, d *demo.Demo, line string) string { return d.Run(strings.Fields(line)...) }

// call calls a tool and returns what a model reads, JSON with a member to a line.
func call(t *testing.T, d *demo.Demo, line string) string {
	t.Helper()
	all := full.Find(t.Context(), d.Env(), "").Serve(slog.New(slog.DiscardHandler))
	defer all.Close()
	name, arguments, _ := strings.Cut(line, " ")
	tool := find(t, all.Toolsets, name)
	result := tool.Call(t.Context(), json.RawMessage(arguments))
	for i, text := range result.Text {
		var pretty bytes.Buffer
		if err := json.Indent(&pretty, []byte(text), "", "  "); err == nil {
			result.Text[i] = pretty.String()
		}
	}
	return strings.Join(result.Text, "\n\n")
}

func find(t *testing.T, sets []toolset.Toolset, name string) toolset.Tool {
	t.Helper()
	for _, set := range sets {
		for _, tool := range set.Tools {
			if tool.Name == name {
				return tool
			}
		}
	}
	t.Fatalf("there is no tool %q", name)
	return toolset.Tool{}
}

var link = regexp.MustCompile(`\]\(([^)#:]+)(#[^)]*)?\)`)

// TestLinks follows the links between documents.
func TestLinks(t *testing.T) {
	t.Parallel()
	var pages []string
	for _, pattern := range []string{"*.md", "changes/unreleased/*.md", "docs/*.md", "docs/guide/*.md"} {
		found, err := filepath.Glob(filepath.FromSlash(pattern))
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, found...)
	}
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllSubmatch(text, -1) {
			if _, err := os.Stat(filepath.Join(filepath.Dir(page), filepath.FromSlash(string(m[1])))); err != nil {
				t.Errorf("%s: a link leads nowhere: %v", page, err)
			}
		}
	}
}
