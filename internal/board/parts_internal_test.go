package board

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/copse-dev/copse/internal/board/markup"
)

// node is an element of a page as a browser has it.
type node struct {
	id, text string
	list     bool
	children []*node
}

// nodeOf returns the elements of a part.
func nodeOf(p part) *node {
	n := &node{id: p.id, text: markup.Settled(p.html + p.before + p.after), list: p.list}
	for _, one := range p.parts {
		n.children = append(n.children, nodeOf(one))
	}
	return n
}

func (n *node) find(id string) (parent *node, at int) {
	for i, c := range n.children {
		if c.id == id {
			return n, i
		}
		if parent, at = c.find(id); parent != nil {
			return parent, at
		}
	}
	return nil, 0
}

func (n *node) String() string {
	var b strings.Builder
	b.WriteString(n.id + "=" + n.text + "(")
	for _, c := range n.children {
		b.WriteString(c.String() + ",")
	}
	return b.String() + ")"
}

// partWith returns the part with an id, below p.
func partWith(p part, id string) (part, bool) {
	if p.id == id {
		return p, true
	}
	for _, one := range p.parts {
		if found, ok := partWith(one, id); ok {
			return found, true
		}
	}
	return part{}, false
}

// take does what the page's script does with a step. The elements of its html are those of
// the part in the new page.
func take(t *rapid.T, page *node, s step, now part) {
	root := &node{children: []*node{page}}
	parent, at := root.find(s.ID)
	if parent == nil {
		t.Fatalf("%s of %s, which is not there", s.Op, s.ID)
	}
	switch s.Op {
	case "morph":
		p, _ := partWith(now, s.ID)
		*parent.children[at] = *nodeOf(p)
	case "remove":
		parent.children = slices.Delete(parent.children, at, at+1)
	case "add":
		list := parent.children[at]
		where := len(list.children)
		if s.Before != "" {
			if where = slices.IndexFunc(list.children, func(c *node) bool { return c.id == s.Before }); where < 0 {
				t.Fatalf("add before %s, which is not there", s.Before)
			}
		}
		id, _, _ := strings.Cut(strings.TrimPrefix(s.HTML, "<"), ">")
		p, ok := partWith(now, id)
		if !ok {
			t.Fatalf("%s is added from nowhere", id)
		}
		list.children = slices.Insert(list.children, where, nodeOf(p))
	case "order":
		list := parent.children[at]
		slices.SortFunc(list.children, func(a, b *node) int { return slices.Index(s.IDs, a.id) - slices.Index(s.IDs, b.id) })
	default:
		t.Fatalf("step %s", s.Op)
	}
}

// The steps from any page to any other make the one out of the other.
func TestChanges(t *testing.T) {
	t.Parallel()
	draw := func(t *rapid.T, name string) screen {
		list := part{id: "sections", list: true}
		for _, key := range rapid.Permutation([]int{1, 2, 3}).Draw(t, name)[:rapid.IntRange(0, 3).Draw(t, name)] {
			id := fmt.Sprintf("s%d", key)
			rows := part{id: id + "-rows", list: true, before: "<ul>"}
			for _, row := range rapid.Permutation([]int{1, 2, 3, 4, 5}).Draw(t, name)[:rapid.IntRange(0, 5).Draw(t, name)] {
				rid := fmt.Sprintf("%s-r%d", id, row)
				rows.parts = append(rows.parts, part{id: rid, html: fmt.Sprintf("<%s>%d <time x>%d</time>", rid, rapid.IntRange(0, 2).Draw(t, name), rapid.Int().Draw(t, name))})
			}
			frame := part{id: id, before: "<" + id + ">", parts: []part{{id: id + "-head", html: fmt.Sprint(rapid.IntRange(0, 1).Draw(t, name))}, rows}}
			if rapid.IntRange(0, 4).Draw(t, name) == 0 {
				frame.parts = frame.parts[:1] // as a section without rows
			}
			list.parts = append(list.parts, frame)
		}
		return screen{app: part{id: "app", parts: []part{list}}}
	}
	rapid.Check(t, func(t *rapid.T) {
		was, now := draw(t, "was"), draw(t, "now")
		page := nodeOf(was.app)
		for _, s := range changes(was, now) {
			take(t, page, s, now.app)
		}
		if want := nodeOf(now.app).String(); page.String() != want {
			t.Fatalf("got  %s\nwant %s", page, want)
		}
		if was.fingerprint() == now.fingerprint() && len(changes(was, now)) > 0 {
			t.Fatal("pages with one version differ")
		}
	})
}

func TestSettled(t *testing.T) {
	t.Parallel()
	for html, want := range map[string]string{
		"": "", "<p>now</p>": "<p>now</p>",
		`<p><time datetime="x">2 m</time> a <time class="y">3 h</time>.</p>`: `<p><time datetime="x"></time> a <time class="y"></time>.</p>`,
		"<time a>1": "<time a>", "<time a": "<time a", "<time a></time><time ": "<time a></time><time ",
	} {
		if got := markup.Settled(html); got != want {
			t.Errorf("%q: %q, want %q", html, got, want)
		}
	}
}
