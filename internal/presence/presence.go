// Package presence shares between the servers of one user which clients work in which worktrees,
// and what they called last.
//
// A server has a [Register]. It writes one file into a directory that only the user can enter, and
// holds a lock while it runs; the system releases the lock of a killed process. [List] reads the
// files whose lock is held, and removes the others. If a directory belongs to somebody else, or
// others can enter it, the package neither writes to it nor trusts it.
//
// Registering costs a call nothing: the file is written in the background, at most once a second.
package presence

import (
	"cmp"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/ownership"
	"github.com/copse-dev/copse/internal/regular"
	"github.com/copse-dev/copse/internal/userdir"
)

// Client is an MCP client that works in a worktree.
type Client struct {
	// Name is what the client calls itself.
	Name string `json:"name"`
	// Worktree is the root of the worktree.
	Worktree string `json:"worktree"`
	// Tool is the last tool that it called, "" for none yet; At is the time of that call.
	Tool string    `json:"tool,omitempty"`
	At   time.Time `json:"at"`
	// Server is the ID of the client's register.
	Server string `json:"-"`
}

// server is the file of one server.
type server struct {
	PID     int      `json:"pid"`
	Clients []Client `json:"clients"`
}

const (
	record = ".json"
	lock   = ".lock"
	// maxFile is the maximum size of the file.
	maxFile = 256 << 10
	// maxName is the size in bytes of the longest name of a client or a tool.
	maxName = 200
	// maxServers is the maximum number of files to read.
	maxServers = 500
	// maxClients is the maximum number of clients in one server's file.
	maxClients = 100
	// pause is the time between two writes.
	pause = time.Second
	// start is the time before the first write, which must not compete with a server's first answer.
	start = 50 * time.Millisecond
	// retry is the time until the next attempt after a write that failed.
	retry = 5 * time.Second
	// probe is the name of a file that a reader makes to find out whether a server can, and probeSize
	// its size: few records are larger. It is in a directory of its own beside that of the records,
	// because a page that watches the records reads them after each change.
	probe     = "probe"
	probeSize = 64 << 10
	// remembered is how long a client is listed after its last call. The process of a client on
	// standard input ends with it; one over HTTP only falls silent.
	remembered = 10 * time.Minute
)

// Register publishes the clients of one server. It is safe for concurrent use.
type Register struct {
	dir  string // "" for none
	now  func() time.Time
	warn func(error)
	// retry is the time until the next attempt after a write that failed.
	retry time.Duration

	mu      sync.Mutex
	clients map[[2]string]Client // by name and worktree
	id      string
	held    *flock.Flock
	pending bool
	written time.Time
	failed  bool // the last write
	watched bool // by a timer
	closed  bool
}

// NewRegister returns the register of a server, in a directory that is created when needed; "" is
// for none. warn is called with the reason why others do not see the server, once until they do.
func NewRegister(dir string, now func() time.Time, warn func(error)) *Register {
	return &Register{dir: dir, now: now, warn: warn, retry: retry, clients: make(map[[2]string]Client)}
}

// Seen records that a client works in a worktree, and the tool that it calls, "" for none.
func (r *Register) Seen(name, worktree, tool string) {
	if r == nil || r.dir == "" || worktree == "" {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return
	}
	name = cleantext.Head(name, maxName)
	key := [2]string{name, worktree}
	r.clients[key] = Client{Name: name, Worktree: worktree, Tool: cmp.Or(cleantext.Head(tool, maxName), r.clients[key].Tool), At: r.now().UTC().Truncate(time.Second)}
	if r.pending {
		return
	}
	r.pending = true
	time.AfterFunc(max(start, pause-time.Since(r.written)), r.flush)
}

// flush writes the file, and tries again later if that fails.
func (r *Register) flush() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.pending, r.written = false, time.Now()
	if r.closed {
		return
	}
	err := r.write()
	if err != nil {
		if !r.failed {
			r.warn(err)
		}
		r.pending = true
		time.AfterFunc(r.retry, r.flush)
	} else {
		r.watch()
	}
	r.failed = err != nil
}

// write writes the file. The caller holds r.mu.
func (r *Register) write() error {
	if err := r.claim(); err != nil {
		return err
	}
	s := server{PID: os.Getpid()}
	for key, c := range r.clients {
		if r.now().Sub(c.At) > remembered {
			delete(r.clients, key)
			continue
		}
		s.Clients = append(s.Clients, c)
	}
	s.Clients = latestFirst(s.Clients)
	s.Clients = s.Clients[:min(len(s.Clients), maxClients)]
	data, err := json.Marshal(s)
	for err == nil && len(data) > maxFile { // no reader would read it
		s.Clients = s.Clients[:len(s.Clients)/2]
		data, err = json.Marshal(s)
	}
	if err != nil {
		return err
	}
	// A concurrent reader may read the previous file; nobody reads a partial one.
	return userdir.Dir(r.dir).Replace(r.id+record, data)
}

// latestFirst sorts clients by their importance: the latest of each worktree, whose presence keeps
// the worktree from being called safe to remove, and then the others, each the latest first.
func latestFirst(clients []Client) []Client {
	slices.SortFunc(clients, func(a, b Client) int {
		return cmp.Or(b.At.Compare(a.At), cmp.Compare(a.Worktree, b.Worktree), cmp.Compare(a.Name, b.Name))
	})
	var first, others []Client
	seen := make(map[string]bool)
	for _, c := range clients {
		if seen[c.Worktree] {
			others = append(others, c)
			continue
		}
		seen[c.Worktree] = true
		first = append(first, c)
	}
	return append(first, others...)
}

// ID returns the ID of the register, "" until something is written.
func (r *Register) ID() string {
	if r == nil {
		return ""
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.id
}

// claim creates the directory and takes the lock, and repeats both if the lock file is gone. Systems
// remove the runtime directory of a user at the last logout, and create it at the next login.
func (r *Register) claim() error {
	if r.held != nil {
		if !r.lost() {
			return nil
		}
		_ = r.held.Unlock()
		r.held = nil
	}
	if err := ownership.MakeAll(r.dir); err != nil {
		return err
	}
	if !ours(r.dir) {
		return userdir.ErrUnusable
	}
	r.id = strings.ToLower(rand.Text())
	held := flock.New(filepath.Join(r.dir, r.id+lock), flock.SetPermissions(0o600))
	if _, err := held.TryLock(); err != nil { // nobody else has the name
		return err
	}
	r.held = held
	return nil
}

// lost reports whether readers no longer find the lock.
func (r *Register) lost() bool {
	mine, err := r.held.Stat()
	theirs, gone := os.Lstat(r.held.Path())
	return err != nil || gone != nil || !os.SameFile(mine, theirs)
}

// watch looks at the lock now and then, and writes the file again if the lock is gone: a client that
// works for minutes without a call is there, too. The caller holds r.mu.
func (r *Register) watch() {
	if r.watched {
		return
	}
	r.watched = true
	time.AfterFunc(r.retry, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.watched = false
		listed := func(c Client) bool { return r.now().Sub(c.At) <= remembered }
		switch {
		case r.closed || r.pending || !slices.ContainsFunc(slices.Collect(maps.Values(r.clients)), listed):
		case r.lost():
			r.pending = true
			time.AfterFunc(0, r.flush)
		default:
			r.watch()
		}
	})
}

// Close removes the file.
func (r *Register) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	if r.held == nil {
		return nil
	}
	remove(r.dir, r.id)
	err := r.held.Unlock()
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// remove removes the files of a server, the lock first: a lock without a record is that of a server
// that cannot write it.
func remove(dir, id string) {
	for _, ending := range []string{lock, record} {
		_ = os.Remove(filepath.Join(dir, id+ending))
	}
}

// List returns the clients of all running servers, the one with the latest call first. The error says
// why there can be others: the directory is not the user's alone, a server cannot write to it, or a
// record cannot be read.
func List(dir string, now time.Time) ([]Client, error) {
	if dir == "" {
		return nil, nil
	}
	if !ours(dir) {
		return nil, foreign(dir)
	}
	err := writable(dir)
	entries, unlisted := regular.ReadDir(dir) // the part that was read counts
	err = cmp.Or(err, unlisted)
	var clients []Client
	read := 0
	for _, e := range entries {
		if id, ok := strings.CutSuffix(e.Name(), lock); ok && valid(id) && err == nil && unrecorded(dir, id) {
			err = fmt.Errorf("a server has no record in %q", dir)
		}
		id, ok := strings.CutSuffix(e.Name(), record)
		if !ok || !valid(id) {
			continue
		}
		if read == maxServers {
			err = fmt.Errorf("%q has the records of more than %d servers", dir, maxServers)
			break
		}
		read++
		runs, unseen := running(filepath.Join(dir, id+lock))
		if err = cmp.Or(err, unseen); unseen == nil && !runs {
			remove(dir, id)
			continue
		}
		data, unread := regular.Read(filepath.Join(dir, id+record), maxFile)
		var s server
		if unread == nil {
			unread = json.Unmarshal(data, &s)
		}
		if errors.Is(unread, os.ErrNotExist) {
			continue // the server has ended
		}
		if unread != nil {
			err = fmt.Errorf("the record %q is unreadable", filepath.Join(dir, id+record))
		}
		clients = s.current(clients, id, now)
	}
	slices.SortStableFunc(clients, func(a, b Client) int { return b.At.Compare(a.At) })
	return clients, err
}

// current appends the clients of a server that are still listed.
func (s server) current(clients []Client, id string, now time.Time) []Client {
	for _, c := range s.Clients[:min(len(s.Clients), maxClients)] {
		if filepath.IsAbs(c.Worktree) && now.Sub(c.At) <= remembered {
			c.Server = id
			clients = append(clients, c)
		}
	}
	return clients
}

// writable returns an error if a server could not write its record, because the directory is full or
// read-only, or cannot be created.
func writable(dir string) error {
	at := userdir.Dir(dir + "." + probe)
	if err := at.Replace(probe, make([]byte, probeSize)); err != nil {
		return fmt.Errorf("a server cannot write its record: %w", err)
	}
	at.Remove(probe)
	return nil
}

// unrecorded reports whether a running server has no record. A server that starts writes it
// immediately after it takes the lock.
func unrecorded(dir, id string) bool {
	const attempts, nap = 10, 10 * time.Millisecond
	for range attempts {
		_, err := os.Lstat(filepath.Join(dir, id+record))
		if runs, unseen := running(filepath.Join(dir, id+lock)); !errors.Is(err, os.ErrNotExist) || !runs && unseen == nil {
			return false
		}
		time.Sleep(nap)
	}
	return true
}

// foreign returns an error if a directory that is not ours exists, or its parent does, or if nobody can
// create it: a server that could not register can run then.
func foreign(dir string) error {
	for _, path := range []string{filepath.Dir(dir), dir} {
		if _, err := os.Lstat(path); !regular.Absent(err) && !userdir.Dir(path).Private() {
			return fmt.Errorf("others can enter %q", path)
		}
	}
	return writable(dir)
}

// ours reports whether a directory and its parent belong to the user alone: anyone who can write to
// the parent can replace the directory.
func ours(dir string) bool {
	return userdir.Dir(filepath.Dir(dir)).Private() && userdir.Dir(dir).Private()
}

// running reports whether a process holds the lock of a file. An error means that the file cannot be seen.
func running(path string) (bool, error) {
	info, err := os.Lstat(path)
	if regular.Absent(err) || err == nil && !info.Mode().IsRegular() {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	l := flock.New(path, flock.SetFlag(os.O_RDWR))
	free, err := l.TryRLock()
	if regular.Absent(err) {
		return false, nil // the server has ended
	}
	if free {
		_ = l.Unlock()
	}
	return err == nil && !free, err
}

// valid reports whether a text can be an ID, and thus a part of a file's name.
func valid(id string) bool {
	return len(id) == len(rand.Text()) && strings.IndexFunc(id, func(c rune) bool { return (c < 'a' || c > 'z') && (c < '0' || c > '9') }) < 0
}
