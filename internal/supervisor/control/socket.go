package control

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/gofrs/flock"
)

// look is the time between two looks at whether the socket is still there.
const look = 5 * time.Second

// Socket is the socket of the supervising process. A system removes the directory at the user's last
// logout, and makes it again at the next login; the socket then returns in the new directory.
type Socket struct {
	dir string

	mu     sync.Mutex
	now    *place
	closed bool
	timer  *time.Timer
}

// place is a socket in a directory.
type place struct {
	net.Listener
	lock *flock.Flock
}

// Take makes this process the supervising one. It creates the directory, which must not be
// accessible to others.
func Take(dir string) (*Socket, error) { return take(dir, look) }

func take(dir string, every time.Duration) (*Socket, error) {
	p, err := occupy(dir)
	if err != nil {
		return nil, err
	}
	s := &Socket{dir: dir, now: p}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.timer = time.AfterFunc(every, func() { s.keep(every) })
	return s, nil
}

// occupy takes the lock, and listens.
func occupy(dir string) (*place, error) {
	if err := makePrivate(dir); err != nil {
		return nil, err
	}
	path := filepath.Join(dir, socketName)
	if len(path) > maxSocket {
		return nil, fmt.Errorf("the path of the socket is longer than %d bytes; set XDG_RUNTIME_DIR to a shorter path", maxSocket)
	}
	lock := flock.New(filepath.Join(dir, lockName), flock.SetPermissions(0o600))
	locked, err := lock.TryLock()
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", lockName, err)
	}
	if !locked {
		return nil, ErrTaken
	}
	// The existing file belongs to a killed process.
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, errors.Join(fmt.Errorf("remove an old socket: %w", err), lock.Close())
	}
	l, err := (&net.ListenConfig{}).Listen(context.Background(), "unix", path)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("create a socket: %w", err), lock.Close())
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, errors.Join(err, l.Close(), lock.Close())
	}
	return &place{l, lock}, nil
}

// lost reports whether other processes no longer find the lock.
func (p *place) lost() bool {
	mine, err := p.lock.Stat()
	theirs, gone := os.Lstat(p.lock.Path())
	return err != nil || gone != nil || !os.SameFile(mine, theirs)
}

// leave closes the place. After it is lost, its path can be another process's, or the next place's.
func (p *place) leave() error {
	if l, ok := p.Listener.(*net.UnixListener); ok && p.lost() {
		l.SetUnlinkOnClose(false)
	}
	return errors.Join(p.Close(), p.lock.Close())
}

// keep takes a place that is lost again. If that fails, because the directory cannot be made yet or
// another process has taken it, it tries again later.
func (s *Socket) keep(every time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	defer s.timer.Reset(every)
	if !s.now.lost() {
		return
	}
	if next, err := occupy(s.dir); err == nil {
		last := s.now
		s.now = next
		_ = last.leave() // nobody can reach it
	}
}

// Accept waits for the next connection.
func (s *Socket) Accept() (net.Conn, error) {
	for {
		s.mu.Lock()
		p := s.now
		s.mu.Unlock()
		conn, err := p.Accept()
		s.mu.Lock()
		moved := !s.closed && p != s.now
		s.mu.Unlock()
		if err == nil || !moved {
			return conn, err
		}
	}
}

// Addr returns the address.
func (s *Socket) Addr() net.Addr {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now.Addr()
}

// Close removes the socket, and lets another process supervise.
func (s *Socket) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	s.timer.Stop()
	return s.now.leave()
}
