// Package spelling writes a secret as programs and services do: escaped, quoted, encoded, or in another
// encoding of its characters.
//
// [Of] returns the spellings that a search for the secret looks for. The search decodes escapes, so
// a spelling differs from the others in more than escaped characters.
package spelling

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/copse-dev/copse/internal/cleantext"
)

// shortest is the minimum length of a secret that is found without its login, in bytes.
const shortest = 8

// Of returns the texts that reveal a secret, some of them several times.
func Of(login, secret string) []string {
	if len(secret) < shortest {
		if login == "" {
			return nil
		}
		secret = login + ":" + secret
		return append(written(secret), base64Forms(secret)...)
	}
	var all []string
	for _, characters := range variants(secret) {
		all = append(all, of(login, characters)...)
	}
	return all
}

// variants returns text as it is, with its accents joined to letters, and separated, as some systems
// write them; all of these with the blanks of a query; and all of these with apostrophes for backticks,
// as in a title that copse marks.
func variants(text string) []string {
	all := []string{text}
	add := func(other string) {
		if !slices.Contains(all, other) {
			all = append(all, other)
		}
	}
	add(norm.NFC.String(text))
	add(norm.NFD.String(text))
	for _, other := range all {
		add(strings.ReplaceAll(other, " ", "+"))
	}
	for _, other := range all {
		add(strings.ReplaceAll(other, "`", "'"))
	}
	return all
}

func of(login, secret string) []string {
	all := append(written(secret), base64Fragments(secret)...)
	all = append(all, base64Fragments(wide(secret))...)
	for _, other := range append(damaged(secret), latin(secret), secret) {
		for _, left := range []string{other, visible(other), unquote(other)} {
			if left = strings.TrimSpace(left); len(left) >= shortest {
				all = append(all, left)
			}
		}
	}
	// A program can encode a URL or a document in base64.
	for _, escaped := range append(others(secret), url.QueryEscape(secret), url.PathEscape(secret), unquoted(secret), latin(secret)) {
		if escaped != secret && escaped != "" {
			all = append(all, base64Fragments(escaped)...)
		}
	}
	if login != "" {
		all = append(all, base64Forms(login+":"+secret)...)
	}
	digits := hex.EncodeToString([]byte(secret))
	return append(all, digits, strings.ToUpper(digits))
}

// damaged returns the forms that text takes if one program writes each character as one byte, as in
// Latin-1, and another replaces the bytes that are not UTF-8: each byte, each run of them, or in JSON.
func damaged(text string) []string {
	const fewest = shortest / 2 // characters that are left
	var each strings.Builder
	left := 0
	for _, r := range text {
		if r >= utf8.RuneSelf {
			r = utf8.RuneError
		} else {
			left++
		}
		each.WriteRune(r)
	}
	if left < fewest || left == len(text) {
		return nil
	}
	const mark = string(utf8.RuneError)
	bytes := strings.ReplaceAll(each.String(), mark, "\xff")
	return []string{
		each.String(), strings.ToValidUTF8(bytes, mark), strings.ReplaceAll(bytes, "\xff", `\ufffd`),
		string([]rune(latin(text))), strings.ToValidUTF8(latin(text), mark),
	}
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
	quoted := strconv.Quote(text)
	all = append(all, quoted[1:len(quoted)-1], unquoted(text))
	// html/template also escapes a plus sign.
	page := html.EscapeString(text)
	// The first is a JSON string inside a JSON string.
	all = append(all, unquoted(all[len(all)-1]), strings.ReplaceAll(all[1], "+", "%20"), page, strings.ReplaceAll(page, "+", "&#43;"))
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
	quoted, err := json.Marshal(text)
	if err != nil { // strings always encode
		return text
	}
	return string(quoted[1 : len(quoted)-1])
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
