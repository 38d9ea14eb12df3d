package item

import (
	"encoding/binary"
	"errors"
	"iter"

	"github.com/copse-dev/copse/internal/item/corpus"
)

// errStored is the error of bytes that [Entry.Append] did not write.
var errStored = errors.New("not a stored entry")

// Entries returns the items of the snapshot by ID. An entry shares its memory with the
// snapshot.
func (s *Snapshot) Entries() iter.Seq2[ID, *Entry] {
	return func(yield func(ID, *Entry) bool) {
		for doc := range s.texts.All() {
			if !yield(doc.Value().ID, &Entry{summary: doc.Value(), texts: &doc}) {
				return
			}
		}
	}
}

// Append appends the entry to b in a form that [DecodeEntry] reads: numbers as varints,
// and texts behind their lengths. The form is for caches: it can change with any version.
func (e *Entry) Append(b []byte) []byte {
	s := e.summary
	title, body := e.texts.Texts()
	b = binary.AppendVarint(b, int64(s.ID))
	b = binary.AppendVarint(b, int64(s.Parent))
	for _, text := range []string{
		s.Title, s.Type, s.Status, s.Iteration, s.Priority, s.Assignee, s.Created, s.Updated, title, body,
	} {
		b = appendText(b, text)
	}
	b = binary.AppendUvarint(b, uint64(len(s.Labels)))
	for _, label := range s.Labels {
		b = appendText(b, label)
	}
	b = binary.AppendUvarint(b, uint64(len(s.DependsOn)))
	for _, id := range s.DependsOn {
		b = binary.AppendVarint(b, int64(id))
	}
	return b
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// DecodeEntry returns the entry that [Entry.Append] wrote. It can share memory with the
// text; a snapshot that has taken it in does not.
func DecodeEntry(stored string) (*Entry, error) {
	d := decoder{rest: stored}
	var s Summary
	s.ID, s.Parent = ID(d.number()), ID(d.number())
	for _, to := range []*string{
		&s.Title, &s.Type, &s.Status, &s.Iteration, &s.Priority, &s.Assignee, &s.Created, &s.Updated,
	} {
		*to = d.text()
	}
	title, body := d.text(), d.text()
	for range d.count() {
		s.Labels = append(s.Labels, d.text())
	}
	for range d.count() {
		s.DependsOn = append(s.DependsOn, ID(d.number()))
	}
	if d.bad || d.rest != "" || s.ID < 1 {
		return nil, errStored
	}
	s = s.Compact()
	return &Entry{summary: &s, texts: corpus.Folded(&s, title, body)}, nil
}

// decoder reads what [Entry.Append] wrote. After the first mistake it returns zeros.
type decoder struct {
	rest string
	bad  bool
}

// unsigned returns the next unsigned varint.
func (d *decoder) unsigned() uint64 {
	var n uint64
	for i := 0; i < len(d.rest) && i < binary.MaxVarintLen64; i++ {
		c := d.rest[i]
		n |= uint64(c&0x7f) << (7 * i)
		if c < 0x80 {
			d.rest = d.rest[i+1:]
			return n
		}
	}
	d.rest, d.bad = "", true
	return 0
}

// number returns the next signed varint.
func (d *decoder) number() int64 {
	n := d.unsigned()
	return int64(n>>1) ^ -int64(n&1)
}

// count returns how many values follow. Each takes at least a byte.
func (d *decoder) count() int {
	n := d.unsigned()
	if n > uint64(len(d.rest)) {
		d.rest, d.bad = "", true
		return 0
	}
	return int(n)
}

// text returns the next text.
func (d *decoder) text() string {
	n := d.count()
	text := d.rest[:n]
	d.rest = d.rest[n:]
	return text
}
