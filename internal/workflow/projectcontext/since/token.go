package since

import (
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"slices"
	"strings"

	"github.com/copse-dev/copse/internal/workflow/projectcontext"
)

// Token identifies an answer, in about fifty letters and digits: its sections, and a checksum of
// each. It has the same meaning in every process, and sections can be compared with it even if the
// answer itself is lost.
//
// Its text is "c1", the version, then in base32 two bytes of which each bit is a section in the
// order of [projectcontext.Names], the first one the lowest, then three bytes for each of these
// sections.
type Token struct{ sums map[string]checksum }

// checksum identifies the content of a section. Two different sections have the same one in one of
// 16 million cases, and this matters only if the answer itself is no longer stored.
type checksum [3]byte

const version = "c1"

func encoding() *base32.Encoding { return base32.StdEncoding.WithPadding(base32.NoPadding) }

// InvalidError means that a text is not a token.
type InvalidError struct{ Text string }

func (e *InvalidError) Error() string { return fmt.Sprintf("%q is not a token of a context", e.Text) }

// Parse reads the text of a token. The error is an [*InvalidError].
func Parse(text string) (Token, error) {
	wrong := &InvalidError{Text: text}
	body, ok := strings.CutPrefix(strings.ToLower(strings.TrimSpace(text)), version)
	if !ok {
		return Token{}, wrong
	}
	data, err := encoding().DecodeString(strings.ToUpper(body))
	if err != nil || len(data) < 2 {
		return Token{}, wrong
	}
	t := Token{sums: make(map[string]checksum)}
	mask, rest := uint(data[0])|uint(data[1])<<8, data[2:]
	for i, name := range projectcontext.Names() {
		if mask&(1<<i) == 0 {
			continue
		}
		if len(rest) < len(checksum{}) {
			return Token{}, wrong
		}
		t.sums[name] = checksum(rest)
		rest = rest[len(checksum{}):]
	}
	if len(rest) > 0 || len(t.sums) == 0 || mask>>len(projectcontext.Names()) != 0 {
		return Token{}, wrong
	}
	return t, nil
}

// String returns the token as text.
func (t Token) String() string {
	var mask uint
	var sums []byte
	for i, name := range projectcontext.Names() {
		if sum, ok := t.sums[name]; ok {
			mask |= 1 << i
			sums = append(sums, sum[:]...)
		}
	}
	return version + strings.ToLower(encoding().EncodeToString(append([]byte{byte(mask), byte(mask >> 8)}, sums...)))
}

// Sections returns the names of the sections that the answer had, in their order.
func (t Token) Sections() []string {
	return slices.DeleteFunc(projectcontext.Names(), func(name string) bool {
		_, ok := t.sums[name]
		return !ok
	})
}

// sumOf returns the checksum of parts, which is different for every division into parts.
func sumOf(parts ...string) [sha256.Size]byte {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d:%s", len(p), p)
	}
	return [sha256.Size]byte(h.Sum(nil))
}
