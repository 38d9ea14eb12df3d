// Package markup is the look of copse's pages: one style sheet, one script, and the functions
// and fragments that templates share. The views of the page use it, and so do the views that
// an MCP client shows.
//
// [Parse] reads a view's own templates. They have, besides those of html/template,
//
// {{line .}} {{lines .}}       foreign text on one line, or on several, without control characters
// {{ago .At}}                  a time as "12 s ago", with the absolute time on hover {{until .At}}
// a time to come as "for 38 more minutes", likewise {{chip "red" "text"}}        a word in a
// colored field; the tones are green, amber, red, blue, and "" {{plural 2 "branch" "branches"}}
// {{token}}                    the hidden field that each form with method="post" needs {{template
// "empty" (empty "title" "text" "command")}}
//
// and links are relative to the board: href="stacks?branch=x". html/template escapes every
// value for its context; nothing else may turn foreign text into template.HTML.
//
// Classes of the style sheet: card, row, mono, dim, dimmer, chip, button, kv, out (output of
// programs), note, grid and hidden (for screen readers). Numbers are tabular everywhere.
package markup

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"html/template"
	"io/fs"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/fact"
	"github.com/copse-dev/copse/internal/secret"
)

//go:embed assets/board.css assets/board.js assets/idiomorph.js assets/icon.svg
var assets embed.FS

//go:embed shared.tmpl
var shared string

// Tone is a color with a meaning.
type Tone string

// The tones. A word or a shape always accompanies a color.
const (
	Plain Tone = ""
	Green Tone = "green" // nothing to do
	Amber Tone = "amber" // waits, or is about to matter
	Red   Tone = "red"   // blocks
	Blue  Tone = "blue"  // open or selected
)

// Asset is a file that pages load.
type Asset struct {
	// Name has the hash of the content, so that a browser can keep the file.
	Name string
	Type string
	Body []byte
}

// Assets returns the files by their short names: board.css, board.js, idiomorph.js, icon.svg.
var Assets = sync.OnceValue(func() map[string]Asset {
	types := map[string]string{
		"board.css": "text/css; charset=utf-8", "board.js": "text/javascript; charset=utf-8",
		"idiomorph.js": "text/javascript; charset=utf-8", "icon.svg": "image/svg+xml",
	}
	all := make(map[string]Asset, len(types))
	for name, kind := range types {
		body, err := assets.ReadFile("assets/" + name)
		if err != nil {
			panic(err) // it is embedded
		}
		sum := sha256.Sum256(body)
		all[name] = Asset{Name: hex.EncodeToString(sum[:6]) + "-" + name, Type: kind, Body: body}
	}
	return all
})

// Placeholder represents the token of a session in content that is rendered for all sessions. Only
// this process knows it, so foreign text cannot contain it.
type Placeholder string

// Kit is shared by the templates of one process.
type Kit struct{ o Options }

// Options configure a Kit.
type Options struct {
	// Now is the clock for ages.
	Now func() time.Time
	// Secrets are what no page shows; nil is none.
	Secrets *secret.Set
	// Field is the name of the hidden field that carries Token; "" for pages whose forms
	// are not sent to this program.
	Field string
	Token Placeholder
}

// NewKit returns a kit.
func NewKit(o Options) *Kit { return &Kit{o} }

// Now returns the current time for ages.
func (k *Kit) Now() time.Time { return k.o.Now() }

// Parse returns the templates that match the patterns in files, with the shared ones. Their
// text is part of the program, so an error in them is a panic.
func (k *Kit) Parse(files fs.FS, patterns ...string) *template.Template {
	t := template.Must(template.New("").Funcs(k.funcs()).Parse(shared))
	return template.Must(t.ParseFS(files, patterns...))
}

// Render executes a template. Its output contains no secrets, no control characters, and no
// characters that change the direction of text, even if the template does not clean a foreign text.
func (k *Kit) Render(t *template.Template, name string, data any) (template.HTML, error) {
	var b bytes.Buffer
	if err := t.ExecuteTemplate(&b, name, data); err != nil {
		return "", fmt.Errorf("render %s: %w", name, err)
	}
	return template.HTML(k.o.Secrets.HTML(Harmless(b.String()))), nil
}

// Redacted returns text without the secrets that the program knows. Use it before a secret is changed
// so that [Kit.Render] does not find it, such as by Markdown.
func (k *Kit) Redacted(text string) string { return k.o.Secrets.Redact(text) }

// Attribute returns text as the value of an attribute in quotes, without what [Kit.Render] removes.
func (k *Kit) Attribute(text string) string {
	return k.Redacted(template.HTMLEscapeString(Harmless(text)))
}

// Renderer executes templates of a view, and keeps the first error.
type Renderer struct {
	Kit       *Kit
	Templates *template.Template
	Err       error
}

// HTML executes a template.
func (r *Renderer) HTML(name string, data any) template.HTML {
	html, err := r.Kit.Render(r.Templates, name, data)
	if err != nil && r.Err == nil {
		r.Err = err
	}
	return html
}

// Harmless returns HTML without characters that control a terminal or change the direction of text.
// It leaves everything else, so markup remains markup.
func Harmless(html string) string {
	bad := func(r rune) bool {
		return r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r <= 0x9f || unicode.Is(unicode.Bidi_Control, r) ||
			r == 0x2028 || r == 0x2029 || r == 0xfeff || r >= 0xe0000 && r <= 0xe007f
	}
	if strings.IndexFunc(html, bad) < 0 {
		return html
	}
	return strings.Map(func(r rune) rune {
		if bad(r) {
			return -1
		}
		return r
	}, html)
}

// Empty is the content of a page without data.
type Empty struct{ Title, Text, Command string }

func (k *Kit) funcs() template.FuncMap {
	return template.FuncMap{
		"line":  cleantext.Line,
		"lines": cleantext.Block,
		"ago":   k.Ago,
		"until": k.Until,
		"chip":  Chip,
		"token": func() template.HTML {
			if k.o.Field == "" {
				return "" // no form is sent to this program
			}
			return template.HTML(`<input type="hidden" name="` + k.o.Field + `" value="` + string(k.o.Token) + `">`)
		},
		"plural": func(n int, one, many string) string {
			if n == 1 {
				return "1 " + one
			}
			return fmt.Sprintf("%d %s", n, many)
		},
		"shell": ShellWord,
		"empty": func(title, text, command string) Empty { return Empty{title, text, command} },
		"join":  strings.Join,
		"deref": func(n *int) int { return *n },
	}
}

// Ago returns the age of a time, with the absolute time on hover. It is empty for the zero time. A
// page's script updates it.
func (k *Kit) Ago(at time.Time) template.HTML {
	if at.IsZero() {
		return ""
	}
	text := fact.Age(at, k.o.Now())
	return template.HTML(fmt.Sprintf(`<time datetime="%s" title="%s">%s</time>`,
		at.UTC().Format(time.RFC3339), at.Local().Format("2006-01-02 15:04:05 MST"), text))
}

// Settled returns html without the texts of times, which a page's script updates.
func Settled(html string) string {
	const opening = "<time "
	if !strings.Contains(html, opening) {
		return html
	}
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(html, opening)
		attributes, text, complete := strings.Cut(rest, ">")
		if !found || !complete {
			b.WriteString(html)
			return b.String()
		}
		b.WriteString(before + opening + attributes + ">")
		html = ""
		if end := strings.IndexByte(text, '<'); end >= 0 {
			html = text[end:]
		}
	}
}

// Until returns the duration until a time, with the absolute time on hover. It is empty for the
// zero time.
func (k *Kit) Until(at time.Time) template.HTML {
	if at.IsZero() {
		return ""
	}
	text := "for less than a minute"
	switch left := at.Sub(k.o.Now()); {
	case left <= 0:
		text = "until a moment ago"
	case left >= 2*time.Hour:
		text = "for " + cleantext.Count(int(left.Hours()), "more hour")
	case left >= time.Minute:
		text = "for " + cleantext.Count(int(left.Minutes()), "more minute")
	}
	return template.HTML(fmt.Sprintf(`<time datetime="%s" title="%s" data-fixed>%s</time>`,
		at.UTC().Format(time.RFC3339), at.Local().Format("2006-01-02 15:04:05 MST"), text))
}

// Chip returns a word in a field of a tone.
func Chip(tone Tone, text string) template.HTML {
	class := "chip"
	switch tone {
	case Green, Amber, Red, Blue:
		class += " " + string(tone)
	}
	return template.HTML(`<span class="` + class + `">` + template.HTMLEscapeString(cleantext.Line(text)) + `</span>`)
}

// plainWord are the characters that mean nothing to a shell.
const plainWord = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:@%+="

// ShellWord returns a text as one word of a command line.
func ShellWord(text string) string {
	text = cleantext.Line(text)
	if text != "" && strings.Trim(text, plainWord) == "" {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
