package remote

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/copse-dev/copse/internal/cachedfile"
	"github.com/copse-dev/copse/internal/ownership"
	"github.com/copse-dev/copse/internal/regular"
	"github.com/copse-dev/copse/internal/remote/seen"
	"github.com/copse-dev/copse/internal/wholefile"
)

const (
	// storeMagic begins every file; its number changes with the format.
	storeMagic = "copse-http-1 "

	entrySuffix = ".entry"
	tempSuffix  = ".tmp"
)

// Limits of a store. Between two prunings, it may exceed them by what the processes that share it
// write.
const (
	maxStoreBytes  = 64 << 20
	maxEntryBytes  = 16 << 20
	maxHeaderBytes = int64(len(storeMagic)) + 2*sha256.Size + 1
	maxStoreAge    = 30 * 24 * time.Hour
	maxTempAge     = time.Hour
	writesPerPrune = 16 << 20
	maxRemembered  = 1000 // written files
)

// store caches answers in files of one directory. It is a cache: any problem with a file is a miss,
// and no error of the disk reaches a request.
//
// A file is named after a hash of its key. It consists of one line, with magic and SHA-256 of the
// rest, and the rest: the answer in wire format. Files are replaced by rename, so a reader in any
// process sees a complete one.
type store struct {
	dir    string
	now    func() time.Time
	secret func(text string) bool

	mu      sync.Mutex
	written int64            // bytes since the last pruning; -1 before the first
	last    map[string]wrote // the last answers that this process wrote, by path
}

// wrote is an answer in a file.
type wrote struct {
	head string
	file cachedfile.Signature
}

func newStore(dir string, now func() time.Time, secret func(text string) bool) *store {
	if secret == nil {
		secret = func(string) bool { return false }
	}
	return &store{dir: dir, now: now, secret: secret, written: -1, last: make(map[string]wrote)}
}

func (s *store) path(key string) string {
	sum := sha256.Sum256([]byte(key))
	return filepath.Join(s.dir, hex.EncodeToString(sum[:])+entrySuffix)
}

// Get returns the answer cached under key.
func (s *store) Get(key string) ([]byte, bool) {
	b, err := regular.Read(s.path(key), maxEntryBytes+maxHeaderBytes)
	if err != nil {
		return nil, false
	}
	head, body, ok := bytes.Cut(b, []byte("\n"))
	if !ok || string(head) != header(body) {
		return nil, false
	}
	return body, true
}

func header(body []byte) string {
	sum := sha256.Sum256(body)
	return storeMagic + hex.EncodeToString(sum[:])
}

// Set caches body under key, if the disk allows it, and if body contains no secret: a service can
// repeat the credentials of a request.
func (s *store) Set(key string, body []byte) {
	if len(body) > maxEntryBytes {
		s.Delete(key)
		return
	}
	path, head := s.path(key), header(body)
	if s.has(path, head) {
		return
	}
	if s.secret(string(body)) {
		s.Delete(key)
		return
	}
	if err := s.write(path, head, body); err != nil {
		return
	}
	s.remember(path, head)
	s.account(int64(len(body)))
}

// has reports whether this process wrote the same answer last and nobody has touched the file
// since. Answers contain the second in which the service gave them, so the calls of a burst get the
// same one; writing it takes longer than everything else in such a call.
func (s *store) has(path, head string) bool {
	s.mu.Lock()
	last := s.last[path]
	s.mu.Unlock()
	if last.head != head {
		return false
	}
	info, err := os.Lstat(path)
	return err == nil && cachedfile.SignatureOf(info) == last.file
}

func (s *store) remember(path, head string) {
	info, err := os.Lstat(path)
	if err != nil {
		return // pruned meanwhile
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.last) >= maxRemembered {
		clear(s.last)
	}
	s.last[path] = wrote{head, cachedfile.SignatureOf(info)}
}

// write does not sync to disk: after a crash, the checksum reveals a torn file.
func (s *store) write(path, head string, body []byte) error {
	if err := ownership.MakeAll(s.dir); err != nil {
		return err
	}
	return wholefile.Replace(path, "*"+tempSuffix, wholefile.Bytes([]byte(head+"\n"), body))
}

// Delete drops the answer cached under key.
func (s *store) Delete(key string) { _ = os.Remove(s.path(key)) }

// account prunes after the first write of the process, and then after each further such amount of
// data.
func (s *store) account(n int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.written >= 0 && s.written+n < writesPerPrune {
		s.written += n
		return
	}
	s.written = 0
	s.prune()
}

// prune drops expired answers, then the oldest until the rest fits.
func (s *store) prune() {
	entries, err := regular.ReadDir(s.dir)
	if err != nil {
		return
	}
	var kept []fs.FileInfo
	var total int64
	now := s.now()
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		age := now.Sub(info.ModTime())
		switch name := e.Name(); {
		case strings.HasSuffix(name, tempSuffix) && age > maxTempAge,
			(strings.HasSuffix(name, entrySuffix) || strings.HasSuffix(name, seen.Suffix)) && age > maxStoreAge:
			_ = os.Remove(filepath.Join(s.dir, name))
		case strings.HasSuffix(name, entrySuffix):
			kept = append(kept, info)
			total += info.Size()
		}
	}
	slices.SortFunc(kept, func(a, b fs.FileInfo) int {
		return cmp.Or(a.ModTime().Compare(b.ModTime()), strings.Compare(a.Name(), b.Name()))
	})
	for _, info := range kept {
		if total <= maxStoreBytes {
			return
		}
		_ = os.Remove(filepath.Join(s.dir, info.Name()))
		total -= info.Size()
	}
}
