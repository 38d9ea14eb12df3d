package board

import (
	"crypto/sha256"
	"encoding/base32"
	"html/template"
	"slices"
	"strings"

	"github.com/copse-dev/copse/internal/board/markup"
)

// part is a piece of a page: an element with an ID. A leaf updates as a whole. Other parts contain
// parts, between the html before and after them: the parts of a list come and go, those of a frame
// stay.
type part struct {
	id            string
	html          string // of a leaf, with the element itself
	before, after string
	parts         []part
	list          bool
}

// screen is a page in parts.
type screen struct {
	// app is the frame of the visible page.
	app     part
	version string
}

// text returns the html of a part with its content.
func (p part) text() template.HTML {
	var b strings.Builder
	p.write(&b)
	return template.HTML(b.String())
}

func (p part) write(b *strings.Builder) {
	b.WriteString(p.html)
	b.WriteString(p.before)
	for _, one := range p.parts {
		one.write(b)
	}
	b.WriteString(p.after)
}

// idOf returns an ID for an element, which is the same for the same keys. Keys are foreign text.
func idOf(keys ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(keys, "\x00")))
	return "p" + strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(sum[:8]))
}

// fingerprint returns a text that differs for a page with other parts.
func (s screen) fingerprint() string {
	sum := sha256.New()
	var walk func(p part)
	walk = func(p part) {
		for _, text := range []string{p.id, markup.Settled(p.html), markup.Settled(p.before), markup.Settled(p.after)} {
			sum.Write([]byte(text))
			sum.Write([]byte{0})
		}
		for _, one := range p.parts {
			walk(one)
		}
	}
	walk(s.app)
	return strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(sum.Sum(nil)[:10]))
}

// step is a change to an open page. The page's script defines its members.
type step struct {
	// Op is morph (the element with ID becomes HTML), add (HTML comes into ID, before the
	// element Before or at the end), remove, order (the children of ID are IDs), or reload
	// (get the page again).
	Op     string   `json:"op"`
	ID     string   `json:"id,omitempty"`
	Before string   `json:"before,omitempty"`
	HTML   string   `json:"html,omitempty"`
	IDs    []string `json:"ids,omitempty"`
}

// opReload is the operation of a page that is loaded again.
const opReload = "reload"

// maxPatch is the size of html beyond which the browser loads the page again.
const maxPatch = 32 << 10

// changes returns the steps from one page to another.
func changes(was, now screen) []step {
	steps := update(was.app, now.app)
	size := 0
	for _, s := range steps {
		size += len(s.HTML)
	}
	if size > maxPatch {
		return []step{{Op: opReload}}
	}
	return steps
}

// update returns the steps from one state of a part to another.
func update(was, now part) []step {
	same := was.id == now.id && was.list == now.list && markup.Settled(was.html) == markup.Settled(now.html) &&
		markup.Settled(was.before) == markup.Settled(now.before) && markup.Settled(was.after) == markup.Settled(now.after)
	if !same || !now.list && !slices.EqualFunc(was.parts, now.parts, func(a, b part) bool { return a.id == b.id }) {
		return []step{{Op: "morph", ID: was.id, HTML: string(now.text())}}
	}
	if now.list {
		return relist(was, now)
	}
	var steps []step
	for i := range now.parts {
		steps = append(steps, update(was.parts[i], now.parts[i])...)
	}
	return steps
}

// relist returns the steps from one state of a list to another.
func relist(was, now part) []step {
	known := make(map[string]part, len(was.parts))
	for _, p := range was.parts {
		known[p.id] = p
	}
	var steps []step
	kept := make(map[string]bool, len(now.parts))
	for _, p := range now.parts {
		kept[p.id] = true
	}
	var order []string // of those that existed before
	for _, p := range was.parts {
		if !kept[p.id] {
			steps = append(steps, step{Op: "remove", ID: p.id})
		} else {
			order = append(order, p.id)
		}
	}
	for _, p := range now.parts {
		if old, ok := known[p.id]; ok {
			steps = append(steps, update(old, p)...)
		}
	}
	for i, p := range slices.Backward(now.parts) {
		if _, ok := known[p.id]; ok {
			continue
		}
		one := step{Op: "add", ID: now.id, HTML: string(p.text())}
		if i+1 < len(now.parts) {
			one.Before = now.parts[i+1].id
		}
		steps = append(steps, one)
	}
	var wanted, all []string
	for _, p := range now.parts {
		all = append(all, p.id)
		if _, ok := known[p.id]; ok {
			wanted = append(wanted, p.id)
		}
	}
	if !slices.Equal(order, wanted) {
		steps = append(steps, step{Op: "order", ID: now.id, IDs: all})
	}
	return steps
}
