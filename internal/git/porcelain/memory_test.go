package porcelain

import (
	"bytes"
	"fmt"
	"runtime"
	"testing"
)

// What remains of a long output is the files that it lists, not the output.
//
//nolint:paralleltest // measures the heap
func TestOutputIsNotKept(t *testing.T) {
	const all = 50_000
	var b bytes.Buffer
	for i := range all {
		fmt.Fprintf(&b, "1 .D N... 100644 100644 000000 %040d %040d f%d\x00", i, i, i)
	}
	out := b.Bytes()
	size := uint64(len(out))
	for name, parse := range map[string]func([]byte) (any, int, error){
		"edits":   func(out []byte) (any, int, error) { e, err := ParseEdits(out); return e, len(e.Files), err },
		"changes": func(out []byte) (any, int, error) { c, err := ParseChanges(out); return c, len(c), err },
	} {
		before := heap()
		kept, n, err := parse(out)
		used := heap() - before
		runtime.KeepAlive(out)
		if n != all || err != nil {
			t.Fatal(name, n, err)
		}
		if used > size {
			t.Errorf("%s: %d bytes remain of an output of %d", name, used, size)
		}
		runtime.KeepAlive(kept)
	}
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
