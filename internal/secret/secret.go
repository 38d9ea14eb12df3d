// Package secret removes the secrets that a program knows from its output.
//
// Code that finds a secret adds it to the program's [Set]. The program's output passes through
// [Set.Redact], [Set.JSON], [Set.HTML], or a [Writer], which replace it with [Mask]. A secret is found in every
// form in which a service or a program repeats it: unchanged, with any of its characters escaped as
// in JSON, HTML, a URL, or a program, with invisible characters between its own, in other encodings of
// its characters, and in base64 or hexadecimal on one line, including as a part of a longer text such
// as the header of basic authentication.
//
// A text can be cut in the middle of a secret. The 8 or more characters of a secret that are left
// before or after the mark of a cut, "…", are removed, too.
//
// A secret of fewer than 8 characters is too similar to a word to be removed everywhere. It is
// found with its login, as in "ada:1234" and in base64 of that.
//
// The zero Set is empty and costs nothing; so does a nil one. A Set is safe for concurrent use.
package secret

import (
	"bytes"
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/copse-dev/copse/internal/secret/spelling"
)

// Mask replaces a secret.
const Mask = "[redacted]"

// Set is the known secrets. Create it with [New].
type Set struct {
	loading sync.Mutex
	unread  atomic.Bool // later is not empty
	later   []func(*Set)
	follow  atomic.Pointer[func()]

	mu    sync.Mutex
	known map[string]bool
	forms atomic.Pointer[patterns]
}

// New returns a set. later adds secrets that cost an access to the disk; it is called before the
// first output. It can be nil.
func New(later func(*Set)) *Set {
	s := &Set{}
	s.Later(later)
	return s
}

// Later adds a function that adds secrets. It is called once, before the next output. It must not
// produce output itself.
func (s *Set) Later(add func(*Set)) {
	if s == nil || add == nil {
		return
	}
	s.loading.Lock()
	defer s.loading.Unlock()
	s.later = append(s.later, add)
	s.unread.Store(true)
}

// Follow sets the function that adds secrets which can change while the program runs. It is called
// before each output, also concurrently, so it must be quick. It must not produce output itself.
func (s *Set) Follow(add func()) {
	if s != nil {
		s.follow.Store(&add)
	}
}

// load calls the functions that add secrets. Concurrent output waits.
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
	if IsToken(login, secret) {
		login, secret = "", login
	}
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
	if all = append(all, spelling.Of(login, secret)...); len(all) == 0 {
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

// tokenLength is the minimum length of a login that counts as a token.
const tokenLength = 20

// IsToken reports whether a login is a token in place of a login, as GitHub accepts it: with the
// password "x-oauth-basic" or none.
func IsToken(login, password string) bool {
	return (password == "" || password == "x-oauth-basic") && len(login) >= tokenLength
}

// InURL calls add with the secrets in a URL: the login, and parameters for passwords and tokens, in its
// query, its fragment, or its path. A text without a scheme is the address of a proxy.
func InURL(text string, add func(login, secret string)) {
	if !strings.Contains(text, "://") {
		text = "http://" + text
	}
	parameters(text, add)
	u, err := url.Parse(text)
	if err != nil || u.User == nil && u.Port() != "" {
		malformed(text, add)
	}
	if err != nil {
		return
	}
	password, _ := u.User.Password()
	add(u.User.Username(), password)
}

// parameters calls add with the values of the parameters for secrets, as they are and unescaped.
func parameters(text string, add func(login, secret string)) {
	for parameter := range strings.FieldsFuncSeq(text, func(r rune) bool { return strings.ContainsRune("?&#;", r) }) {
		name, value, _ := strings.Cut(parameter, "=")
		if !isSecret(name[strings.LastIndexByte(name, '/')+1:]) {
			continue
		}
		add("", value)
		if plain, err := url.QueryUnescape(value); err == nil {
			add("", plain)
		}
	}
}

// malformed calls add with the login of a URL that has a character in it which it must escape. It ends at the
// last "@" of the host, or at that of the URL.
func malformed(text string, add func(login, secret string)) {
	_, rest, _ := strings.Cut(text, "://")
	host := rest
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		host = rest[:end]
	}
	for _, part := range []string{host, rest} {
		login, password, ok := strings.Cut(part[:max(0, strings.LastIndexByte(part, '@'))], ":")
		if !ok {
			continue
		}
		add(login, password)
		if plain, err := url.PathUnescape(password); err == nil {
			add(login, plain)
		}
	}
}

// isSecret reports whether a parameter of a URL is one for a password or a token.
func isSecret(name string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc([]string{"password", "passwd", "token", "secret", "signature"}, func(word string) bool { return strings.Contains(name, word) }) ||
		slices.ContainsFunc([]string{"key", "pass", "pwd", "auth", "sig"}, func(end string) bool { return strings.HasSuffix(name, end) })
}

// all returns the texts to search for.
func (s *Set) all() *patterns {
	if s == nil {
		return &none
	}
	if s.unread.Load() {
		s.load()
	}
	if add := s.follow.Load(); add != nil {
		(*add)()
	}
	if found := s.forms.Load(); found != nil {
		return found
	}
	return &none
}

// Redact returns text without the secrets. It returns text without any unchanged. Line breaks, the
// blanks after them, and backticks remain, even within a secret: they are the structure of Markdown,
// and a repository chooses some of the secrets.
func (s *Set) Redact(text string) string { return s.Between(text, 0, len(text)) }

// Around is how many bytes before and after a part of a text belong to a secret at most: [Set.Between] considers
// no more of them.
const Around = 16 << 10

// Between returns text[from:to], redacted as Redact does. It also removes the part of a secret that begins before
// from or ends after to. Use it to cut a text: in a piece, a part of a secret is text like any other.
func (s *Set) Between(text string, from, to int) string {
	begin := max(0, from-Around)
	around := text[begin:min(len(text), to+Around)]
	from, to = from-begin, to-begin
	var out strings.Builder
	at := from
	for _, secret := range spans(s.all(), around) {
		hidden := span{max(secret.from, at), min(secret.to, to)}
		if hidden.from >= hidden.to {
			continue
		}
		out.WriteString(around[at:hidden.from])
		line := hidden.from == 0 || around[hidden.from-1] == '\n'
		mask(&out, around[hidden.from:hidden.to], line)
		at = hidden.to
	}
	if at == from {
		return around[from:to]
	}
	return out.String() + around[at:to]
}

type contextKey struct{}

// With returns a context for calls that must not show the secrets of a set.
func With(ctx context.Context, s *Set) context.Context {
	return context.WithValue(ctx, contextKey{}, s)
}

// Of returns the secrets that a call must not show; nil if there are none.
func Of(ctx context.Context) *Set {
	s, _ := ctx.Value(contextKey{}).(*Set)
	return s
}

// mask writes the structure of a secret, and [Mask] for what is between. line means that the secret
// begins a line.
func mask(out *strings.Builder, secret string, line bool) {
	hidden := false
	for _, c := range []byte(secret) {
		switch {
		case c == '\n' || c == '`' || line && (c == ' ' || c == '\t'):
			out.WriteByte(c)
			line, hidden = line || c == '\n', false
		case !hidden:
			out.WriteString(Mask)
			fallthrough
		default:
			line, hidden = false, true
		}
	}
}

// HTML redacts as Redact does, in HTML in which all text of others is escaped. It changes text and
// the values of attributes, but no tag.
func (s *Set) HTML(text string) string {
	if !s.In(text) {
		return text
	}
	var out strings.Builder
	ends := "<" // what ends the piece
	for {
		end := strings.IndexAny(text, ends)
		if end < 0 {
			end = len(text)
		}
		piece := text[:end]
		if ends != tagEnds {
			piece = s.Redact(piece)
		}
		out.WriteString(piece)
		if end == len(text) {
			return out.String()
		}
		switch {
		case ends != tagEnds: // a tag begins, or continues after a value
			ends = tagEnds
		case text[end] == '>':
			ends = "<"
		default:
			ends = text[end : end+1]
		}
		out.WriteByte(text[end])
		text = text[end+1:]
	}
}

// tagEnds are the characters that end a piece of a tag: the tag ends, or the value of an attribute
// begins.
const tagEnds = `>"'`

// RedactPart redacts as Redact does, at the beginning of a text that continues. It omits an end
// that can be the beginning of a secret.
func (s *Set) RedactPart(text string) string {
	text = s.Redact(text)
	forms := s.all()
	if len(forms.texts) == 0 {
		return text
	}
	return text[:len(text)-unfinished(forms, text[strings.LastIndexByte(text, '\n')+1:])]
}

// In reports whether text contains one of the secrets.
func (s *Set) In(text string) bool { return s.Redact(text) != text }

// JSON returns a JSON document without the secrets in its strings. Numbers and the document's
// syntax stay, so it remains valid.
func (s *Set) JSON(document []byte) []byte {
	if len(spans(s.all(), document)) == 0 {
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

// stringEnd returns the length of the string at the beginning of a document.
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
	masked := []byte(`"` + Mask + `"`)
	var value string
	if json.Unmarshal(text, &value) != nil {
		return masked
	}
	clean := s.Redact(value)
	if clean == value {
		return text
	}
	quoted, err := json.Marshal(clean)
	if err != nil { // strings always encode
		return masked
	}
	return quoted
}
