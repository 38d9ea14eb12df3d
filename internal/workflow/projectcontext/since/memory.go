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
	// maxKept is the number of stored answers, of all worktrees.
	maxKept = 200
	// maxSize is the size of the largest file that is read.
	maxSize = 4 << 20
	// clockError is how far the clocks of two processes can differ.
	clockError = time.Minute
	// ending is that of the files.
	ending = ".json"
)

// Memory stores answers, in a directory that all processes of a user share.
type Memory struct {
	dir        string
	repository string
	redact     func(string) string
	now        func() time.Time
}

// New returns the memory in a directory, which is created when it is first needed; "" is none.
// redact removes secrets from everything that is stored.
func New(dir string, redact func(string) string, now func() time.Time) *Memory {
	return &Memory{dir: dir, redact: redact, now: now}
}

// In returns the memory for a repository. It does not know the answers about others: who has the token of one must
// not see here what it was about.
func (m *Memory) In(repository string) *Memory {
	in := *m
	in.repository = repository
	return &in
}

// clean returns a text in its stored form: without secrets, and valid in JSON.
func (m *Memory) clean(text string) string {
	if text = m.redact(text); utf8.ValidString(text) {
		return text
	}
	return strconv.Quote(text)
}

// path returns the file of a token, whose text is not part of the name.
func (m *Memory) path(t Token) string {
	sum := sumOf(t.String())
	return filepath.Join(m.dir, hex.EncodeToString(sum[:12])+ending)
}

// recall returns an answer, nil if it is not stored.
func (m *Memory) recall(t Token) *snapshot {
	if m.dir == "" {
		return nil
	}
	data, err := regular.Read(m.path(t), maxSize)
	if err != nil {
		return nil
	}
	var s snapshot
	if json.Unmarshal(data, &s) != nil || s.token().String() != t.String() || s.Repository != m.clean(m.repository) {
		return nil
	}
	return &s
}

// keep stores a snapshot under its token. The same one is written once.
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
		return t // the token is sufficient
	}
	_ = os.Chtimes(path, now, now) // the file system's clock is coarse, and not this one
	m.forget()
	return t
}

// forget removes the least recently used files. Files from the future are from a clock that was
// wrong, and count as the oldest.
func (m *Memory) forget() {
	entries, err := regular.ReadDir(m.dir)
	if err != nil || len(entries) <= maxKept {
		return
	}
	type file struct {
		name string
		used time.Time
	}
	var files []file
	latest := m.now().Add(clockError)
	for _, e := range entries {
		if info, err := e.Info(); err == nil && strings.HasSuffix(e.Name(), ending) {
			used := info.ModTime()
			if used.After(latest) {
				used = time.Time{}
			}
			files = append(files, file{e.Name(), used})
		}
	}
	slices.SortFunc(files, func(a, b file) int { return cmp.Or(b.used.Compare(a.used), cmp.Compare(a.name, b.name)) })
	for _, f := range files[min(len(files), maxKept):] {
		_ = os.Remove(filepath.Join(m.dir, f.name)) // the next one tries again
	}
}
