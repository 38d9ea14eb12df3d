package board

import (
	"bytes"
	"embed"
	"html/template"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/copse-dev/copse/internal/board/markup"
	"github.com/copse-dev/copse/internal/board/parts"
)

//go:embed shell.tmpl
var shellFiles embed.FS

// shell draws the frame that all pages share.
type shell struct {
	kit       *markup.Kit
	templates *template.Template
}

func newShell(kit *markup.Kit) *shell { return &shell{kit, kit.Parse(shellFiles, "shell.tmpl")} }

// navigation is an entry of the navigation.
type navigation struct {
	Name, Title string
	Badge       Badge
	Current     bool
}

// opening is the beginning of a document, which is the same for each page of a board.
type opening struct {
	Base        string // the address of the board
	CSS, Script string
	Morph, Icon string
}

// document is what comes before the frame of a page.
type document struct {
	Title, Class string
	Address      string // the address of the page, relative to the board
	Live         string // address of the stream
	Token        string
	Now          int64 // in milliseconds
}

// frame is what is around the content of a page. It can be shown before there is any.
type frame struct {
	title    string // of the document
	top, nav parts.Part
}

// renderer renders the parts of a page.
type renderer struct{ markup.Renderer }

// leaf renders a part from a template, whose element has the ID.
func (r *renderer) leaf(id, name string, data any) parts.Part {
	return parts.Part{ID: id, HTML: string(r.HTML(name, data))}
}

// frame renders what is around the content of a view.
func (s *shell) frame(v View, summary Summary, nav []navigation) (frame, error) {
	r := &renderer{markup.Renderer{Kit: s.kit, Templates: s.templates}}
	search := slices.ContainsFunc(nav, func(n navigation) bool { return n.Name == "search" })
	f := frame{
		title: titleOf(v) + " · " + summary.Name,
		top: r.leaf("top", "top", struct {
			Summary
			Search bool
		}{summary, search}),
		nav: r.leaf("nav", "nav", nav),
	}
	return f, r.Err
}

// titleOf returns what the title of a document calls a view.
func titleOf(v View) string {
	if title := v.Title(); title != "" {
		return title
	}
	first, size := utf8.DecodeRuneInString(v.Name())
	return string(unicode.ToUpper(first)) + v.Name()[size:]
}

// The frame comes first in a page, so that a browser can show it before the rest arrives.
const (
	appBefore = `<div id="app">`
	appAfter  = `</div>`
)

// screen renders the parts of a page.
func (s *shell) screen(v View, p Page, f frame) (parts.Screen, error) {
	r := &renderer{markup.Renderer{Kit: s.kit, Templates: s.templates}}
	main := parts.Part{ID: "main", Before: `<main id="main" tabindex="-1">`, After: `</main>`, Parts: []parts.Part{
		r.leaf("head", "head", p),
		{ID: "tools", HTML: `<div id="tools">` + string(p.Tools) + `</div>`},
		r.sections(p),
		{ID: "over", HTML: `<div id="over" aria-hidden="true">` + string(p.Over) + `</div>`},
	}}
	out := parts.Screen{App: parts.Part{ID: "app", Before: appBefore, After: appAfter, Parts: []parts.Part{f.top, f.nav, main, r.detail(p.Detail)}}}
	out.Version = out.Fingerprint()
	return out, r.Err
}

// sections renders the list of sections.
func (r *renderer) sections(p Page) parts.Part {
	list := parts.Part{ID: "sections", List: true, Before: `<div id="sections" class="` + r.Kit.Attribute(p.Class) + `">`, After: `</div>`}
	for _, one := range p.Sections {
		id := parts.IDOf(one.Key)
		rows := parts.Part{ID: id + "-rows", List: true, Before: `<ul id="` + id + `-rows" class="rows">`, After: `</ul>`}
		for _, row := range one.Rows {
			rows.Parts = append(rows.Parts, r.row(id, row))
		}
		frame := parts.Part{
			ID:     id,
			Before: `<section id="` + id + `" class="card ` + r.Kit.Attribute(one.Class) + `" aria-label="` + r.Kit.Attribute(one.Label) + `">`,
			After:  `</section>`,
			Parts: []parts.Part{
				{ID: id + "-head", HTML: `<header id="` + id + `-head">` + string(one.Head) + `</header>`},
				rows,
				{ID: id + "-foot", HTML: `<footer id="` + id + `-foot">` + string(one.Foot) + `</footer>`},
			},
		}
		if len(one.Rows) == 0 {
			frame.Parts = []parts.Part{frame.Parts[0], frame.Parts[2]}
		}
		list.Parts = append(list.Parts, frame)
	}
	return list
}

// row renders a row of a section or a block of the panel.
func (r *renderer) row(of string, row Row) parts.Part {
	id := parts.IDOf(of, row.Key)
	class, current := "row "+row.Class, ""
	if row.Selected {
		class, current = class+" selected", ` aria-current="true"`
	}
	before := `<li id="` + id + `" class="` + r.Kit.Attribute(strings.TrimSpace(class)) + `"` + current + ` data-row>`
	if row.Graph == "" {
		return parts.Part{ID: id, HTML: before + string(row.HTML) + `</li>`}
	}
	return parts.Part{ID: id, Before: before, After: `</li>`, Parts: []parts.Part{
		{ID: id + "g", HTML: `<div id="` + id + `g" class="g">` + string(row.Graph) + `</div>`},
		{ID: id + "c", HTML: `<div id="` + id + `c">` + string(row.HTML) + `</div>`},
	}}
}

// detail renders the panel.
func (r *renderer) detail(d *Detail) parts.Part {
	frame := parts.Part{ID: "detail", Before: `<aside id="detail" hidden>`, After: `</aside>`}
	if d == nil {
		return frame
	}
	frame.Before = `<aside id="detail" aria-label="` + r.Kit.Attribute(d.Title) + `">`
	blocks := parts.Part{ID: "blocks", List: true, Before: `<div id="blocks">`, After: `</div>`}
	for _, block := range d.Blocks {
		id := parts.IDOf("blocks", block.Key)
		blocks.Parts = append(blocks.Parts, parts.Part{ID: id, HTML: `<section id="` + id + `" class="block ` + r.Kit.Attribute(block.Class) + `">` + string(block.HTML) + `</section>`})
	}
	frame.Parts = []parts.Part{r.leaf("detail-head", "detail-head", d), blocks}
	return frame
}

// open returns the beginning of a document. A browser loads the style sheet and the scripts
// while the rest is made.
func (s *shell) open(base string) ([]byte, error) {
	var b bytes.Buffer
	err := s.templates.ExecuteTemplate(&b, "opening", openingOf(base))
	return b.Bytes(), err
}

func openingOf(base string) opening {
	assets := markup.Assets()
	asset := func(name string) string { return "asset/" + assets[name].Name }
	return opening{Base: base, CSS: asset("board.css"), Script: asset("board.js"), Morph: asset("idiomorph.js"), Icon: asset("icon.svg")}
}

// begin returns the next part of a document, up to the content of the page.
func (s *shell) begin(v View, f frame, d document) ([]byte, error) {
	d.Title, d.Class, d.Now = f.title, "view-"+v.Name(), s.kit.Now().UnixMilli()
	var b bytes.Buffer
	head, err := s.kit.Render(s.templates, "document", d)
	b.WriteString(string(head))
	b.WriteString(appBefore)
	b.WriteString(string(f.top.Text()))
	b.WriteString(string(f.nav.Text()))
	return b.Bytes(), err
}

// finish returns the rest of a document: the content of the page.
func (s *shell) finish(scr parts.Screen, notice template.HTML) ([]byte, error) {
	var b bytes.Buffer
	for _, content := range scr.App.Parts[2:] {
		b.WriteString(string(content.Text()))
	}
	b.WriteString(appAfter)
	end, err := s.kit.Render(s.templates, "end", struct {
		Version string
		Notice  template.HTML
	}{scr.Version, notice})
	b.WriteString(string(end))
	return b.Bytes(), err
}

// address returns the address of a page, relative to the board.
func address(v View, r Request) string {
	u := url.URL{Path: v.Name()}
	if r.Path != "" {
		u.Path += "/" + r.Path
	}
	u.RawQuery = r.Query.Encode()
	return u.String()
}
