// Package seen stores one line about each pull request and issue in a service's answers, so that
// searches need no network.
//
// Create [Lists] with [New], one for each credential: the lists of one credential contain nothing
// that the service told another. [Lists.Add] adds entries, and [Lists.All] returns them. The lists
// are files in the user's cache directory, which all processes of the user share. They are a cache:
// if a file is damaged, entries are missing and nothing fails.
//
// A file has a JSON object on each line, the latest last. A line with the same key replaces an
// earlier one.
package seen

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/copse-dev/copse/internal/ownership"
	"github.com/copse-dev/copse/internal/regular"
	"github.com/copse-dev/copse/internal/wholefile"
)

// Entry is the stored data of a pull request or an issue.
type Entry struct {
	// Key is the number of a pull request, or the key of an issue.
	Key   string `json:"key"`
	Title string `json:"title"`
	State string `json:"state,omitempty"`
	// Person is the author of a pull request, or the assignee of an issue.
	Person string `json:"person,omitempty"`
	// Branch is the head branch of a pull request.
	Branch string `json:"branch,omitempty"`
	// Fork is the owner/name of the fork that Branch is in; empty if it is in the repository.
	Fork string `json:"fork,omitempty"`
	// AsOf is when the service confirmed this.
	AsOf time.Time `json:"as_of"`
}

// same reports whether e has the same content as other, at any time.
func (e Entry) same(other Entry) bool {
	e.AsOf = other.AsOf
	return e == other
}

const (
	// maxEntries is the number of stored entries of a list, the latest ones.
	maxEntries = 5000
	// maxFile is the size from which a file is rewritten without replaced entries. A file of twice
	// that size is not read.
	maxFile = 2 << 20
	// maxText is the maximum length of a stored text.
	maxText = 300
	// often is how long a confirmed entry stays unchanged.
	often = time.Minute
)

// Suffix ends the names of the files.
const Suffix = ".seen"

// Lists are the lists of one credential. They are safe for concurrent use. A nil one stores
// nothing.
type Lists struct {
	dir, identity string
	secret        func(text string) bool

	mu    sync.Mutex
	lists map[string]*list
}

// New returns the lists in a directory for a credential, which identity names without revealing it.
// Without a directory, "", there are none. An entry with a text for which secret returns true is not
// stored; a nil secret returns false.
func New(dir, identity string, secret func(text string) bool) *Lists {
	if dir == "" {
		return nil
	}
	if secret == nil {
		secret = func(string) bool { return false }
	}
	return &Lists{dir: dir, identity: identity, secret: secret, lists: map[string]*list{}}
}

// Add adds entries to the list with this name.
func (l *Lists) Add(name string, entries ...Entry) {
	if l == nil {
		return
	}
	entries = slices.DeleteFunc(slices.Clone(entries), func(e Entry) bool {
		return l.secret(strings.Join([]string{e.Key, e.Title, e.State, e.Person, e.Branch, e.Fork}, "\n"))
	})
	if len(entries) == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list(name).add(entries)
}

// All returns the entries of the list with this name, the latest first.
func (l *Lists) All(name string) []Entry {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	one := l.list(name)
	one.read()
	return slices.SortedFunc(maps.Values(one.entries), latestFirst)
}

func latestFirst(a, b Entry) int {
	if c := b.AsOf.Compare(a.AsOf); c != 0 {
		return c
	}
	return strings.Compare(a.Key, b.Key)
}

func (l *Lists) list(name string) *list {
	one := l.lists[name]
	if one == nil {
		sum := sha256.Sum256([]byte(l.identity + "\x00" + name))
		one = &list{path: filepath.Join(l.dir, hex.EncodeToString(sum[:])+Suffix)}
		one.forget()
		l.lists[name] = one
	}
	return one
}

// list is one file, as far as it was read.
type list struct {
	path    string
	file    fs.FileInfo
	at      int64 // the end of the last line that was read
	entries map[string]Entry
}

func (l *list) forget() { l.file, l.at, l.entries = nil, 0, map[string]Entry{} }

// read reads the lines that were added since.
func (l *list) read() {
	info, err := os.Stat(l.path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > 2*maxFile {
		l.forget()
		return
	}
	if l.file == nil || !os.SameFile(l.file, info) || info.Size() < l.at {
		l.forget()
	}
	l.file = info
	if info.Size() == l.at {
		return
	}
	file, err := regular.Open(l.path, 2*maxFile)
	if err != nil {
		l.forget()
		return
	}
	defer file.Close()
	text, err := io.ReadAll(io.NewSectionReader(file, l.at, 2*maxFile))
	if err != nil {
		return
	}
	for {
		line, rest, whole := bytes.Cut(text, []byte("\n"))
		if !whole {
			return // another process is writing it
		}
		l.at += int64(len(line)) + 1
		text = rest
		var e Entry
		if json.Unmarshal(line, &e) == nil && e.Key != "" {
			l.keep(e)
		}
	}
}

func (l *list) keep(e Entry) {
	if kept, ok := l.entries[e.Key]; !ok || !e.AsOf.Before(kept.AsOf) {
		l.entries[e.Key] = e
	}
}

// add appends the entries with new content.
func (l *list) add(entries []Entry) {
	l.read()
	var lines bytes.Buffer
	for _, e := range entries {
		e.Title, e.Person, e.Branch, e.Fork, e.State = cut(e.Title), cut(e.Person), cut(e.Branch), cut(e.Fork), cut(e.State)
		if kept, ok := l.entries[e.Key]; ok && e.AsOf.Sub(kept.AsOf) < often && kept.same(e) {
			continue
		}
		line, err := json.Marshal(e)
		if err != nil {
			continue
		}
		lines.Write(append(line, '\n'))
		l.keep(e)
	}
	if lines.Len() == 0 {
		return
	}
	if l.at+int64(lines.Len()) > maxFile || len(l.entries) > maxEntries+maxEntries/4 {
		l.rewrite()
		return
	}
	if l.append(lines.Bytes()) == nil {
		l.read()
	}
}

// append adds lines in one write, so those of several processes do not mix.
func (l *list) append(lines []byte) error {
	if err := ownership.MakeAll(filepath.Dir(l.path)); err != nil {
		return err
	}
	if info, err := os.Lstat(l.path); err == nil && !info.Mode().IsRegular() {
		return fs.ErrInvalid
	}
	file, err := ownership.Open(l.path, os.O_WRONLY|os.O_APPEND)
	if err != nil {
		return err
	}
	_, err = file.Write(lines)
	return errors.Join(err, file.Close())
}

// rewrite replaces the file with one that has only the latest entries. An entry that another
// process adds at the same moment is lost until the service's next answer.
func (l *list) rewrite() {
	latest := slices.SortedFunc(maps.Values(l.entries), latestFirst)
	latest = latest[:min(len(latest), maxEntries)]
	var text bytes.Buffer
	for _, e := range slices.Backward(latest) {
		line, err := json.Marshal(e)
		if err == nil {
			text.Write(append(line, '\n'))
		}
	}
	if wholefile.Replace(l.path, "*.tmp", wholefile.Bytes(text.Bytes())) != nil {
		return // the longer file serves as well
	}
	l.forget()
	l.read()
}

// cut limits a text.
func cut(s string) string {
	if len(s) <= maxText {
		return s
	}
	end := maxText
	for end > 0 && s[end]&0xc0 == 0x80 { // inside a character
		end--
	}
	return s[:end]
}
