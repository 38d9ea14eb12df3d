package since

import (
	"cmp"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/copse-dev/copse/internal/lockedstore"
	"github.com/copse-dev/copse/internal/regular"
)

const (
	// maxKept is how many answers are kept, of all worktrees.
	maxKept = 200
	// maxSize is the size of the largest file that is read.
	maxSize = 4 << 20
	// ending is that of the files.
	ending = ".json"
)

// Memory keeps what answers told, in a directory that all processes of a user share.
type Memory struct {
	dir    string
	redact func(string) string
	now    func() time.Time
}

// New returns the memory in a directory, which is made when it is first needed; "" is none.
// Nothing is kept that redact takes out of a text.
func New(dir string, redact func(string) string, now func() time.Time) *Memory {
	return &Memory{dir: dir, redact: redact, now: now}
}

// clean returns a text as it is kept: without secrets, and as JSON can have it.
func (m *Memory) clean(text string) string {
	if text = m.redact(text); utf8.ValidString(text) {
		return text
	}
	return strconv.Quote(text)
}

// path returns the file of a token, of whose text nothing gets into the name.
func (m *Memory) path(t Token) string {
	sum := sumOf(t.String())
	return filepath.Join(m.dir, hex.EncodeToString(sum[:12])+ending)
}

// recall returns what an answer told, nil if that is not kept.
func (m *Memory) recall(t Token) *snapshot {
	if m.dir == "" {
		return nil
	}
	data, err := regular.Read(m.path(t), maxSize)
	if err != nil {
		return nil
	}
	var s snapshot
	if json.Unmarshal(data, &s) != nil || s.token().String() != t.String() {
		return nil
	}
	return &s
}

// keep keeps a snapshot under its token. The same one is written once.
func (m *Memory) keep(s snapshot) Token {
	t := s.token()
	if m.dir == "" {
		return t
	}
	path, now := m.path(t), m.now()
	if os.Chtimes(path, now, now) == nil {
		return t
	}
	data, err := json.Marshal(s)
	if err != nil || len(data) > maxSize || lockedstore.Replace(path, nil, data) != nil {
		return t // the token says enough
	}
	m.forget()
	return t
}

// forget removes the files that were not used for the longest time.
func (m *Memory) forget() {
	entries, err := os.ReadDir(m.dir)
	if err != nil || len(entries) <= maxKept {
		return
	}
	type file struct {
		name string
		used time.Time
	}
	var files []file
	for _, e := range entries {
		if info, err := e.Info(); err == nil && strings.HasSuffix(e.Name(), ending) {
			files = append(files, file{e.Name(), info.ModTime()})
		}
	}
	slices.SortFunc(files, func(a, b file) int { return cmp.Or(b.used.Compare(a.used), cmp.Compare(a.name, b.name)) })
	for _, f := range files[min(len(files), maxKept):] {
		_ = os.Remove(filepath.Join(m.dir, f.name)) // the next one tries again
	}
}
