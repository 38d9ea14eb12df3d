package refstore

import (
	"os"
	"sync"
	"time"

	"github.com/copse-dev/copse/internal/cachedfile"
)

// maxKnown is the maximum number of refs whose values are cached. More than that are seldom asked
// for by name.
const maxKnown = 1000

// looseValues caches the values of loose refs. Reading a value that has not changed takes one
// lookup of its file instead of eight system calls. It is safe for concurrent use.
type looseValues struct {
	now func() time.Time

	mu    sync.Mutex
	known map[string]looseValue // by path
}

// looseValue is a value with the state of its file before it was read.
type looseValue struct {
	file  cachedfile.Signature
	value value
}

// read returns the ref in the file at path.
func (l *looseValues) read(path string, hashLen int) (value, error) {
	now := l.now()
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return readFound(path, info, err, hashLen)
	}
	file := cachedfile.SignatureOf(info)
	if v, ok := l.cached(path, file); ok {
		return v, nil
	}
	v, err := readFound(path, info, nil, hashLen)
	if err == nil && v.kind != missing && file.Settled(now) {
		l.add(path, looseValue{file, v})
	}
	return v, err
}

func (l *looseValues) cached(path string, file cachedfile.Signature) (value, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	v, ok := l.known[path]
	return v.value, ok && v.file == file
}

func (l *looseValues) add(path string, v looseValue) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.known) >= maxKnown {
		clear(l.known)
	}
	l.known[path] = v
}
