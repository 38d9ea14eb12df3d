// Package sqltext converts the texts and numbers of items to their form in the database, and back.
//
// A text of an item can contain NUL, which the database does not accept. It is stored as the escape
// character with a digit, and the escape character itself twice.
package sqltext

import (
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/copse-dev/copse/internal/item"
)

const escape = "\x10"

// Encode returns the form of a text in the database.
func Encode(s string) string {
	if !strings.ContainsAny(s, "\x00"+escape) {
		return s
	}
	return strings.NewReplacer(escape, escape+escape, "\x00", escape+"0").Replace(s)
}

// Decode returns the text of a form that Encode returned.
func Decode(s string) string {
	if !strings.Contains(s, escape) {
		return s
	}
	return strings.NewReplacer(escape+escape, escape, escape+"0", "\x00").Replace(s)
}

// DecodeAll returns the texts of a list; nil for an empty one.
func DecodeAll(list []string) []string {
	if len(list) == 0 {
		return nil
	}
	for i, s := range list {
		list[i] = Decode(s)
	}
	return list
}

// EncodeAll returns the forms of the texts of a list.
func EncodeAll(list []string) []string {
	all := make([]string, len(list))
	for i, s := range list {
		all[i] = Encode(s)
	}
	return all
}

// IDs returns the Numbers of a list; nil for an empty one.
func IDs(list []int64) []item.ID {
	var all []item.ID
	for _, n := range list {
		all = append(all, item.ID(n))
	}
	return all
}

// Numbers returns a list as the database has it.
func Numbers(list []item.ID) []int64 {
	all := make([]int64, len(list))
	for i, id := range list {
		all[i] = int64(id)
	}
	return all
}

// WithMore returns a row with more columns than a caller of its Scan reads: they come last, and go
// into these variables.
func WithMore(r pgx.Row, into ...any) pgx.Row { return more{r, into} }

type more struct {
	pgx.Row
	into []any
}

func (m more) Scan(into ...any) error { return m.Row.Scan(append(into, m.into...)...) }
