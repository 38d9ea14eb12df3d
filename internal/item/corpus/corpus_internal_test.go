package corpus

import (
	"slices"
	"strings"
	"testing"
)

// A change costs the block that it is in, and blocks neither grow nor crumble.
func TestChangeCostsABlock(t *testing.T) {
	t.Parallel()
	doc := func() *Doc[int] { return NewDoc(0, "a title", strings.Repeat("words ", 200)) }
	docs := map[int64]*Doc[int]{}
	for key := range int64(2000) {
		docs[10*key] = doc()
	}
	c := Corpus[int]{}.With(docs)
	sound := func() {
		t.Helper()
		for i, b := range c.blocks {
			if size := len(b.text); size > 2*blockSize || size < blockSize/4 {
				t.Fatalf("block %d of %d is of %d bytes", i, len(c.blocks), size)
			}
		}
	}
	sound()
	for i := range int64(3000) {
		key := i // into the first blocks
		if i%2 == 0 {
			key = 20_000 + i // after the last
		}
		before := c.blocks
		c = c.With(map[int64]*Doc[int]{key: doc()})
		kept := 0
		for _, b := range before {
			if slices.Contains(c.blocks, b) {
				kept++
			}
		}
		if kept != len(before)-1 {
			t.Fatalf("%d of %d blocks are kept", kept, len(before))
		}
		sound()
	}
	for key := range int64(30_000) {
		c = c.With(map[int64]*Doc[int]{key: nil})
	}
	if len(c.blocks) != 0 {
		t.Fatalf("%d blocks are left of no documents", len(c.blocks))
	}
}
