// Package secret keeps the secrets that a program knows out of what it shows.
//
// Whatever finds a secret adds it to the program's [Set]; what leaves the program
// goes through [Set.Redact], [Set.JSON] or a [Writer], which put [Mask] in its
// place. A secret is found in each form in which a service or a program repeats
// it: as it is, escaped in JSON, HTML or a URL, and in base64, also as a part of a
// longer text such as the header of basic authentication.
//
// A secret of fewer than 8 characters is too much like a word to be taken out
// wherever it stands. It is found with its login, as in "ada:1234" and in
// base64 of that.
//
// The zero Set is empty and costs nothing; so does a nil one. A Set is safe for
// concurrent use.
package secret

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"html"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
)

// Mask stands where a secret was.
const Mask = "[redacted]"

// shortest is the length from which a secret is looked for by itself, in bytes.
const shortest = 8

// Set is the secrets that are known. Make one with [New].
type Set struct {
	loading sync.Mutex
	unread  atomic.Bool // later is not empty
	later   []func(*Set)

	mu    sync.Mutex
	known map[string]bool
	forms atomic.Pointer[patterns]
}

// New returns a set. later adds what costs a look at the disk; it is called when
// something is shown first. It can be nil.
func New(later func(*Set)) *Set {
	s := &Set{}
	s.Later(later)
	return s
}

// Later adds a function that adds secrets. It is called once, before something is shown
// the next time. It must show nothing itself.
func (s *Set) Later(add func(*Set)) {
	if s == nil || add == nil {
		return
	}
	s.loading.Lock()
	defer s.loading.Unlock()
	s.later = append(s.later, add)
	s.unread.Store(true)
}

// load calls the functions that add secrets. Whoever shows something meanwhile waits.
func (s *Set) load() {
	s.loading.Lock()
	defer s.loading.Unlock()
	for _, add := range s.later {
		add(s)
	}
	s.later = nil
	s.unread.Store(false)
}

// Add adds a token, or a password without a login.
func (s *Set) Add(secret string) { s.AddLogin("", secret) }

// AddLogin adds a password with its login.
func (s *Set) AddLogin(login, secret string) {
	secret = strings.TrimSpace(secret)
	if s == nil || secret == "" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	key := login + "\x00" + secret
	if s.known[key] {
		return
	}
	if s.known == nil {
		s.known = make(map[string]bool)
	}
	s.known[key] = true
	var all []string
	if old := s.forms.Load(); old != nil {
		all = slices.Clone(old.texts)
	}
	if all = append(all, forms(login, secret)...); len(all) == 0 {
		return
	}
	slices.SortFunc(all, func(a, b string) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return strings.Compare(a, b)
	})
	all = slices.Compact(all)
	s.forms.Store(compile(all))
}

// forms returns the texts that give a secret away.
func forms(login, secret string) []string {
	if len(secret) < shortest {
		if login == "" {
			return nil
		}
		secret = login + ":" + secret
		return append(written(secret), base64Forms(secret)...)
	}
	all := append(written(secret), base64Fragments(secret)...)
	if len(login) > 0 {
		all = append(all, base64Forms(login+":"+secret)...)
	}
	return all
}

// written returns the forms in which text is written into other texts.
func written(text string) []string {
	all := []string{text, url.QueryEscape(text), url.PathEscape(text), url.UserPassword("", text).String()[1:]}
	for _, quoted := range []string{strconv.Quote(text), marshal(text)} {
		all = append(all, quoted[1:len(quoted)-1])
	}
	// JSON in a string of JSON.
	nested := marshal(all[len(all)-1])
	// html/template escapes a plus sign, too.
	page := html.EscapeString(text)
	all = append(all, nested[1:len(nested)-1], strings.ReplaceAll(all[1], "+", "%20"), page, strings.ReplaceAll(page, "+", "&#43;"))
	// Other programs write hexadecimal digits small, more characters as entities, and a slash
	// of JSON as \/.
	all = append(all, strings.ReplaceAll(all[5], "/", `\/`))
	for _, escaped := range []string{all[1], all[2], all[3]} {
		all = append(all, smallHex(escaped))
	}
	for _, entities := range []*strings.Replacer{
		strings.NewReplacer("=", "&#x3D;", "`", "&#x60;"), strings.NewReplacer("=", "&#x3D;", "`", "&#x60;", "/", "&#x2F;"), strings.NewReplacer("/", "&#x2F;"),
	} {
		all = append(all, entities.Replace(page))
	}
	return all
}

// smallHex returns a text with percent escapes as other programs write them: "%2f".
func smallHex(escaped string) string {
	text := []byte(escaped)
	for i := 0; i+2 < len(text); i++ {
		if text[i] == '%' {
			copy(text[i+1:], strings.ToLower(escaped[i+1:i+3]))
		}
	}
	return string(text)
}

func marshal(text string) string {
	data, err := json.Marshal(text)
	if err != nil { // strings always encode
		return strconv.Quote(text)
	}
	return string(data)
}

// base64Forms returns text in base64.
func base64Forms(text string) []string {
	return []string{
		strings.TrimRight(base64.StdEncoding.EncodeToString([]byte(text)), "="),
		base64.RawURLEncoding.EncodeToString([]byte(text)),
	}
}

// base64Fragments returns what part becomes within a longer text in base64. It depends on how many
// bytes are before it, and its ends on what they are.
func base64Fragments(part string) []string {
	var all []string
	for before := range 3 {
		text := make([]byte, before, before+len(part))
		text = append(text, part...)
		// The characters that only bytes of part decide.
		from, to := (before*8+5)/6, len(text)*8/6
		for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			all = append(all, encoding.EncodeToString(text)[from:to])
		}
	}
	return all
}

// all returns what to look for.
func (s *Set) all() *patterns {
	if s == nil {
		return &none
	}
	if s.unread.Load() {
		s.load()
	}
	if found := s.forms.Load(); found != nil {
		return found
	}
	return &none
}

// Redact returns text without the secrets. Text without any is returned as it is.
func (s *Set) Redact(text string) string {
	forms := s.all()
	at, length := find(forms, text)
	if length == 0 {
		return text
	}
	var out strings.Builder
	for ; length > 0; at, length = find(forms, text) {
		out.WriteString(text[:at] + Mask)
		text = text[at+length:]
	}
	return out.String() + text
}

// JSON returns a JSON document without the secrets in its strings. Numbers and
// the document's own characters stay, so that it is valid still.
func (s *Set) JSON(document []byte) []byte {
	if _, length := find(s.all(), document); length == 0 {
		return document
	}
	var out []byte
	for len(document) > 0 {
		begin := bytes.IndexByte(document, '"')
		if begin < 0 {
			break
		}
		out = append(out, document[:begin]...)
		document = document[begin:]
		end := stringEnd(document)
		out = append(out, s.literal(document[:end])...)
		document = document[end:]
	}
	return append(out, document...)
}

// stringEnd returns the length of the string that a document begins with.
func stringEnd(document []byte) int {
	for i := 1; i < len(document); i++ {
		switch document[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(document)
}

// literal returns a string of JSON without the secrets.
func (s *Set) literal(text []byte) []byte {
	var value string
	if json.Unmarshal(text, &value) != nil {
		return []byte(`"` + Mask + `"`)
	}
	clean := s.Redact(value)
	if clean == value {
		return text
	}
	return []byte(marshal(clean))
}
