// Package parts describes a page in parts, and the steps from one state of a page to another.
package parts

import (
	"crypto/sha256"
	"encoding/base32"
	"html/template"
	"slices"
	"strings"

	"github.com/copse-dev/copse/internal/board/markup"
)

// Part is a piece of a page: an element with an ID. A leaf updates as a whole. Other parts contain
// parts, between the html before and after them: the parts of a list come and go, those of a frame
// stay.
type Part struct {
	ID            string
	HTML          string // of a leaf, with the element itself
	Before, After string
	Parts         []Part
	List          bool
}

// Screen is a page in parts.
type Screen struct {
	// App is the frame of the visible page.
	App     Part
	Version string
}

// Text returns the html of a part with its content.
func (p Part) Text() template.HTML {
	var b strings.Builder
	p.write(&b)
	return template.HTML(b.String())
}

func (p Part) write(b *strings.Builder) {
	b.WriteString(p.HTML)
	b.WriteString(p.Before)
	for _, one := range p.Parts {
		one.write(b)
	}
	b.WriteString(p.After)
}

// IDOf returns an ID for an element, which is the same for the same keys. Keys are foreign text.
func IDOf(keys ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(keys, "\x00")))
	return "p" + strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(sum[:8]))
}

// Fingerprint returns a text that differs for a page with other parts.
func (s Screen) Fingerprint() string {
	sum := sha256.New()
	var walk func(p Part)
	walk = func(p Part) {
		for _, text := range []string{p.ID, markup.Settled(p.HTML), markup.Settled(p.Before), markup.Settled(p.After)} {
			sum.Write([]byte(text))
			sum.Write([]byte{0})
		}
		for _, one := range p.Parts {
			walk(one)
		}
	}
	walk(s.App)
	return strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(sum.Sum(nil)[:10]))
}

// Step is a change to an open page. The page's script defines its members.
type Step struct {
	// Op is morph (the element with ID becomes HTML), add (HTML comes into ID, before the
	// element Before or at the end), remove, order (the children of ID are IDs), or reload
	// (get the page again).
	Op     string   `json:"op"`
	ID     string   `json:"id,omitempty"`
	Before string   `json:"before,omitempty"`
	HTML   string   `json:"html,omitempty"`
	IDs    []string `json:"ids,omitempty"`
}

// Reload is the operation of a page that is loaded again.
const Reload = "reload"

// maxPatch is the size of html beyond which the browser loads the page again.
const maxPatch = 32 << 10

// Changes returns the steps from one page to another.
func Changes(was, now Screen) []Step {
	steps := update(was.App, now.App)
	size := 0
	for _, s := range steps {
		size += len(s.HTML)
	}
	if size > maxPatch {
		return []Step{{Op: Reload}}
	}
	return steps
}

// update returns the steps from one state of a part to another.
func update(was, now Part) []Step {
	same := was.ID == now.ID && was.List == now.List && markup.Settled(was.HTML) == markup.Settled(now.HTML) &&
		markup.Settled(was.Before) == markup.Settled(now.Before) && markup.Settled(was.After) == markup.Settled(now.After)
	if !same || !now.List && !slices.EqualFunc(was.Parts, now.Parts, func(a, b Part) bool { return a.ID == b.ID }) {
		return []Step{{Op: "morph", ID: was.ID, HTML: string(now.Text())}}
	}
	if now.List {
		return relist(was, now)
	}
	var steps []Step
	for i := range now.Parts {
		steps = append(steps, update(was.Parts[i], now.Parts[i])...)
	}
	return steps
}

// relist returns the steps from one state of a list to another.
func relist(was, now Part) []Step {
	known := make(map[string]Part, len(was.Parts))
	for _, p := range was.Parts {
		known[p.ID] = p
	}
	var steps []Step
	kept := make(map[string]bool, len(now.Parts))
	for _, p := range now.Parts {
		kept[p.ID] = true
	}
	var order []string // of those that existed before
	for _, p := range was.Parts {
		if !kept[p.ID] {
			steps = append(steps, Step{Op: "remove", ID: p.ID})
		} else {
			order = append(order, p.ID)
		}
	}
	for _, p := range now.Parts {
		if old, ok := known[p.ID]; ok {
			steps = append(steps, update(old, p)...)
		}
	}
	for i, p := range slices.Backward(now.Parts) {
		if _, ok := known[p.ID]; ok {
			continue
		}
		one := Step{Op: "add", ID: now.ID, HTML: string(p.Text())}
		if i+1 < len(now.Parts) {
			one.Before = now.Parts[i+1].ID
		}
		steps = append(steps, one)
	}
	var wanted, all []string
	for _, p := range now.Parts {
		all = append(all, p.ID)
		if _, ok := known[p.ID]; ok {
			wanted = append(wanted, p.ID)
		}
	}
	if !slices.Equal(order, wanted) {
		steps = append(steps, Step{Op: "order", ID: now.ID, IDs: all})
	}
	return steps
}
