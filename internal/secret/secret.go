// Package secret removes the secrets that a program knows from its output.
//
// Code that finds a secret adds it to the program's [Set]. The program's output passes through
// [Set.Redact], [Set.JSON], [Set.HTML], or a [Writer], which replace it with [Mask]. A secret is found in every
// form in which a service or a program repeats it: unchanged, with any of its characters escaped as
// in JSON, HTML, a URL, or a program, with invisible characters between its own, and in base64 on
// one line, including as a part of a longer text such as the header of basic authentication.
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
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/copse-dev/copse/internal/cleantext"
)

// Mask replaces a secret.
const Mask = "[redacted]"

// shortest is the minimum length of a secret that is found without its login, in bytes.
const shortest = 8

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

// tokenLength is the minimum length of a login that counts as a token.
const tokenLength = 20

// IsToken reports whether a login is a token in place of a login, as GitHub accepts it: with the
// password "x-oauth-basic" or none.
func IsToken(login, password string) bool {
	return (password == "" || password == "x-oauth-basic") && len(login) >= tokenLength
}

// InURL calls add with the secrets in a URL: the login, and parameters for passwords and tokens. A
// text without a scheme is the address of a proxy.
func InURL(text string, add func(login, secret string)) {
	if !strings.Contains(text, "://") {
		text = "http://" + text
	}
	u, err := url.Parse(text)
	if err != nil || u.User == nil && u.Port() != "" {
		malformed(text, add)
	}
	if err != nil {
		return
	}
	password, _ := u.User.Password()
	add(u.User.Username(), password)
	for name, values := range u.Query() {
		if !isSecret(name) {
			continue
		}
		for _, value := range values {
			add("", value)
		}
	}
}

// malformed calls add with the login of a URL that has a character in it which it must escape.
func malformed(text string, add func(login, secret string)) {
	_, rest, _ := strings.Cut(text, "://")
	if at := strings.LastIndexByte(rest, '@'); at >= 0 {
		login, password, ok := strings.Cut(rest[:at], ":")
		if !ok {
			return
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
	return slices.ContainsFunc([]string{"password", "passwd", "token", "secret"}, func(word string) bool { return strings.Contains(name, word) })
}

// forms returns the texts that reveal a secret.
func forms(login, secret string) []string {
	if len(secret) < shortest {
		if login == "" {
			return nil
		}
		secret = login + ":" + secret
		return append(written(secret), base64Forms(secret)...)
	}
	all := append(written(secret), base64Fragments(secret)...)
	if visible := strings.TrimSpace(visible(secret)); len(visible) >= shortest {
		all = append(all, visible)
	}
	if bare := strings.TrimSpace(unquote(secret)); len(bare) >= shortest {
		all = append(all, bare)
	}
	if bytes := latin(secret); len(bytes) >= shortest {
		all = append(all, bytes)
	}
	all = append(all, base64Fragments(wide(secret))...)
	// A program can encode a URL or a document in base64.
	for _, escaped := range append(others(secret), url.QueryEscape(secret), url.PathEscape(secret), unquoted(secret)) {
		if escaped != secret {
			all = append(all, base64Fragments(escaped)...)
		}
	}
	if len(login) > 0 {
		all = append(all, base64Forms(login+":"+secret)...)
	}
	return all
}

// others returns the forms of text in a URL, JSON, and HTML that other languages write, because they
// escape characters that Go does not escape.
func others(text string) []string {
	percent := strings.ReplaceAll(url.QueryEscape(text), "+", "%20")
	var ascii strings.Builder
	for _, r := range strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) {
		if r < utf8.RuneSelf {
			ascii.WriteByte(byte(r))
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			fmt.Fprintf(&ascii, `\u%04x`, unit)
		}
	}
	return []string{
		percent, strings.ReplaceAll(percent, "%2F", "/"), strings.NewReplacer("%21", "!", "%27", "'", "%28", "(", "%29", ")", "%2A", "*").Replace(percent),
		strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text), ascii.String(),
		html.EscapeString(text), strings.NewReplacer("&#34;", "&quot;", "&#39;", "&#x27;").Replace(html.EscapeString(text)),
	}
}

// latin returns text in ISO 8859-1, in which some programs escape it, and "" if it has no such
// form, or the same.
func latin(text string) string {
	bytes := make([]byte, 0, len(text))
	for _, r := range text {
		if r > 0xff {
			return ""
		}
		bytes = append(bytes, byte(r))
	}
	if string(bytes) == text {
		return ""
	}
	return string(bytes)
}

// wide returns text in UTF-16, which PowerShell encodes in base64.
func wide(text string) string {
	var bytes []byte
	for _, unit := range utf16.Encode([]rune(text)) {
		bytes = append(bytes, byte(unit), byte(unit>>8))
	}
	return string(bytes)
}

// visible returns text without its invisible characters, as it is in a decoded text.
func visible(text string) string {
	return strings.Map(func(r rune) rune {
		if cleantext.Invisible(r) {
			return -1
		}
		return r
	}, text)
}

// unquote returns text without its quotation marks, the backslashes before them, and its invisible
// characters, as it is in a decoded text.
func unquote(text string) string {
	pieces := strings.Split(strings.ReplaceAll(visible(text), `"`, "'"), "'")
	for i, piece := range pieces[:len(pieces)-1] {
		pieces[i] = strings.TrimRight(piece, `\`)
	}
	return strings.Join(pieces, "")
}

// written returns the forms of text inside other texts.
func written(text string) []string {
	all := []string{text, url.QueryEscape(text), url.PathEscape(text), url.UserPassword("", text).String()[1:]}
	for _, quoted := range []string{strconv.Quote(text), marshal(text)} {
		all = append(all, quoted[1:len(quoted)-1])
	}
	// A JSON string inside a JSON string.
	nested := marshal(all[len(all)-1])
	// html/template also escapes a plus sign.
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

// unquoted returns text as it is within a string of JSON.
func unquoted(text string) string {
	quoted := marshal(text)
	return quoted[1 : len(quoted)-1]
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

// base64Fragments returns the forms of part within a longer text in base64. They depend on the
// number of bytes before it, and their ends on the neighboring bytes.
func base64Fragments(part string) []string {
	var all []string
	for before := range 3 {
		text := make([]byte, before, before+len(part))
		text = append(text, part...)
		// The characters that depend only on bytes of part.
		from, to := (before*8+5)/6, len(text)*8/6
		for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			all = append(all, encoding.EncodeToString(text)[from:to])
		}
	}
	return all
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
func (s *Set) Redact(text string) string {
	found := spans(s.all(), text)
	if len(found) == 0 {
		return text
	}
	var out strings.Builder
	at := 0
	for _, secret := range found {
		out.WriteString(text[at:secret.from])
		line := secret.from == 0 || text[secret.from-1] == '\n'
		mask(&out, text[secret.from:secret.to], line)
		at = secret.to
	}
	return out.String() + text[at:]
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
