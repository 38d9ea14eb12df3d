package ticfile_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/ticfile"
	"github.com/copse-dev/copse/internal/test/need"
)

// original is an item as tic has it.
type original struct {
	ID          string     `json:"id"`
	Title       string     `json:"title"`
	Type        string     `json:"type"`
	Status      string     `json:"status"`
	Iteration   string     `json:"iteration"`
	Priority    string     `json:"priority"`
	Assignee    string     `json:"assignee"`
	Labels      []string   `json:"labels"`
	Created     string     `json:"created"`
	Updated     string     `json:"updated"`
	Parent      *string    `json:"parent"`
	DependsOn   []string   `json:"dependsOn"`
	Description string     `json:"description"`
	Comments    []reported `json:"comments"`
}

type reported struct {
	Author string `json:"author"`
	Date   string `json:"date"`
	Body   string `json:"body"`
}

// The original reads what is written here: the same fields, all comments, and all
// of every text, with the backslashes that keep it from being cut.
func TestTheOriginalReadsIt(t *testing.T) {
	t.Parallel()
	modules, err := filepath.Abs(filepath.Join("..", "..", "test", "clients", "node_modules"))
	if err != nil {
		t.Fatal(err)
	}
	node := filepath.Join(modules, "node", "bin", "node")
	if !need.Present(filepath.Join(modules, "yaml", "dist", "index.js")) {
		need.Skip(t, "the YAML library of the original is not installed; run npm ci in internal/test/clients")
	}
	const n = 500
	var texts []string
	var items []item.Item
	seed := rand.Int()
	for i := range n {
		it := readable(rapid.Custom(hostileItem).Example(seed + i))
		f, err := ticfile.New(it)
		if err != nil {
			t.Fatal(err)
		}
		text, err := f.Text()
		if err != nil {
			t.Fatal(err)
		}
		texts, items = append(texts, text), append(items, it)
	}
	input, err := json.Marshal(texts)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), node, filepath.Join("testdata", "original.mjs"), modules)
	cmd.Stdin, cmd.Stderr = bytes.NewReader(input), os.Stderr
	output, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var got []original
	if err := json.Unmarshal(output, &got); err != nil {
		t.Fatal(err)
	}
	for i, it := range items {
		if diff := cmp.Diff(originalOf(it), plainOf(got[i])); diff != "" {
			t.Errorf("seed %d: %q (-want +got)\n%s", seed+i, texts[i], diff)
			break
		}
	}
}

// readable takes from an item what no file could give back to the original, whose
// trimming and line rules are its own.
func readable(it item.Item) item.Item {
	clean := func(s string) string {
		s = strings.ToValidUTF8(s, "?")
		s = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\ufeff", "", "\x00", "").Replace(s)
		return strings.TrimFunc(s, unicode.IsSpace)
	}
	it.Description = item.Text(clean(it.Description))
	var kept []item.Comment
	for _, c := range it.Comments {
		c.Author = strings.Map(func(r rune) rune {
			if r < ' ' || r == 0x85 || r == 0x2028 || r == 0x2029 || strings.ContainsRune(`"'`, r) {
				return -1
			}
			return r
		}, clean(c.Author))
		if c.Body = item.Text(clean(c.Body)); c.Body != "" {
			kept = append(kept, c)
		}
	}
	it.Comments = kept
	return it
}

func originalOf(it item.Item) original {
	o := original{
		ID: it.ID.String(), Title: it.Title, Type: it.Type, Status: it.Status, Iteration: it.Iteration, Priority: it.Priority,
		Assignee: it.Assignee, Labels: append([]string{}, it.Labels...), Created: it.Created, Updated: it.Updated, DependsOn: []string{},
		Description: it.Description, Comments: []reported{},
	}
	if it.Parent != 0 {
		o.Parent = new(it.Parent.String())
	}
	for _, id := range it.DependsOn {
		o.DependsOn = append(o.DependsOn, id.String())
	}
	for _, c := range it.Comments {
		o.Comments = append(o.Comments, reported{decodeAuthor(c.Author), c.Date, c.Body})
	}
	return plainOf(o)
}

// plainOf takes the backslashes away that only protect, from what was written with
// or without them.
func plainOf(o original) original {
	protect := strings.NewReplacer(`\`, "")
	o.Description = protect.Replace(o.Description)
	comments := []reported{}
	for _, c := range o.Comments {
		comments = append(comments, reported{decodeAuthor(c.Author), c.Date, protect.Replace(c.Body)})
	}
	o.Comments = comments
	return o
}

// decodeAuthor returns an author whose name had to be quoted, without the quotes.
func decodeAuthor(s string) string {
	if plain, err := strconv.Unquote(s); err == nil {
		return fmt.Sprint(plain)
	}
	return s
}
