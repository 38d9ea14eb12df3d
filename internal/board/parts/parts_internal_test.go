package parts

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
func nodeOf(p Part) *node {
	n := &node{id: p.ID, text: markup.Settled(p.HTML + p.Before + p.After), list: p.List}
	for _, one := range p.Parts {
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
func partWith(p Part, id string) (Part, bool) {
	if p.ID == id {
		return p, true
	}
	for _, one := range p.Parts {
		if found, ok := partWith(one, id); ok {
			return found, true
		}
	}
	return Part{}, false
}

// take does what the page's script does with a step. The elements of its html are those of
// the part in the new page.
func take(t *rapid.T, page *node, s Step, now Part) {
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
	draw := func(t *rapid.T, name string) Screen {
		list := Part{ID: "sections", List: true}
		for _, key := range rapid.Permutation([]int{1, 2, 3}).Draw(t, name)[:rapid.IntRange(0, 3).Draw(t, name)] {
			id := fmt.Sprintf("s%d", key)
			rows := Part{ID: id + "-rows", List: true, Before: "<ul>"}
			for _, row := range rapid.Permutation([]int{1, 2, 3, 4, 5}).Draw(t, name)[:rapid.IntRange(0, 5).Draw(t, name)] {
				rid := fmt.Sprintf("%s-r%d", id, row)
				rows.Parts = append(rows.Parts, Part{ID: rid, HTML: fmt.Sprintf("<%s>%d <time x>%d</time>", rid, rapid.IntRange(0, 2).Draw(t, name), rapid.Int().Draw(t, name))})
			}
			frame := Part{ID: id, Before: "<" + id + ">", Parts: []Part{{ID: id + "-head", HTML: fmt.Sprint(rapid.IntRange(0, 1).Draw(t, name))}, rows}}
			if rapid.IntRange(0, 4).Draw(t, name) == 0 {
				frame.Parts = frame.Parts[:1] // as a section without rows
			}
			list.Parts = append(list.Parts, frame)
		}
		return Screen{App: Part{ID: "app", Parts: []Part{list}}}
	}
	rapid.Check(t, func(t *rapid.T) {
		was, now := draw(t, "was"), draw(t, "now")
		page := nodeOf(was.App)
		for _, s := range Changes(was, now) {
			take(t, page, s, now.App)
		}
		if want := nodeOf(now.App).String(); page.String() != want {
			t.Fatalf("got  %s\nwant %s", page, want)
		}
		if was.Fingerprint() == now.Fingerprint() && len(Changes(was, now)) > 0 {
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
