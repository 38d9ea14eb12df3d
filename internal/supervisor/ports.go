package supervisor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/copse-dev/copse/internal/lockedstore"
	"github.com/copse-dev/copse/internal/ownership"
	"github.com/copse-dev/copse/internal/regular"
	"github.com/copse-dev/copse/internal/rooted"
)

// Ports stores the port of each worktree, in a file of the user.
type Ports struct {
	path  string
	first int
	own   record // if there is no file
}

// record is the file.
type record struct {
	Ports map[string]int `json:"ports"` // by key
}

const (
	// portsTimeout is how long to wait for another process to release the file.
	portsTimeout = time.Second
	// maxRemembered is the maximum number of stored worktrees; deleted ones make room.
	maxRemembered = 500
	// maxPorts is the maximum size of the file: each worktree takes a line with its path.
	maxPorts = 4 << 20
)

// NewPorts returns the ports in the file at path; "" stores none. They begin at first, 0 is
// FirstPort.
func NewPorts(path string, first int) *Ports {
	if first == 0 {
		first = FirstPort
	}
	return &Ports{path: path, first: first, own: record{Ports: map[string]int{}}}
}

// HeldError reports that another program listens on the port that a worktree's clients know. The
// worktree is not served on another port: its clients would send their token to the other program.
type HeldError struct {
	Port int
	// Stranger means that the program may be another user's, so the worktree has a new token.
	Stranger bool
}

func (e *HeldError) Error() string {
	if e.Stranger {
		return fmt.Sprintf("port %d, which the clients of this worktree use, is in use by another program, which may be another user's, "+
			"so the worktree has a new token; stop that program, or run `copse up --new-port` to move the worktree, and then run `copse mcp install` again", e.Port)
	}
	return fmt.Sprintf("port %d, which the clients of this worktree use, is in use by another program; "+
		"stop that program, or run `copse up --new-port` to move the worktree and create a new token", e.Port)
}

// Known returns the ports of all stored worktrees, by their keys.
func (p *Ports) Known() (map[string]int, error) {
	r, err := p.load()
	return r.Ports, err
}

// listen listens on the port of a worktree: its stored port, or, for a worktree that has none or
// that moves, the first port that is free and not another's.
func (p *Ports) listen(ctx context.Context, hosts []string, key string, taken map[int]bool, move bool) ([]net.Listener, int, error) {
	known, err := p.load()
	if err != nil {
		return nil, 0, err
	}
	port := known.Ports[key]
	if port != 0 && !move {
		listeners, err := listenOn(ctx, hosts, port)
		if taken[port] || err != nil && isBusy(err) {
			return nil, 0, &HeldError{Port: port}
		}
		if err != nil {
			return nil, 0, fmt.Errorf("listen: %w", err)
		}
		return listeners, port, nil
	}
	others := map[int]bool{port: true}
	for other, port := range known.Ports {
		if _, err := os.Stat(other); !regular.Absent(err) && other != key {
			others[port] = true
		}
	}
	for port := p.first; port <= lastPort; port++ {
		if taken[port] || others[port] {
			continue
		}
		listeners, err := listenOn(ctx, hosts, port)
		switch {
		case err == nil:
			p.save(ctx, key, port)
			return listeners, port, nil
		case isBusy(err), errors.Is(err, syscall.EACCES):
			continue
		}
		return nil, 0, fmt.Errorf("listen: %w", err)
	}
	return nil, 0, errNoPort()
}

// load reads the file. An invalid file is an error: worktrees that lost their ports would move
// without a notice to their clients.
func (p *Ports) load() (record, error) {
	if p.path == "" {
		return p.own, nil
	}
	r := record{Ports: map[string]int{}}
	data, err := regular.Read(p.path, maxPorts)
	if errors.Is(err, os.ErrNotExist) || err == nil && len(data) == 0 {
		return r, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &r)
	}
	if err != nil {
		return r, fmt.Errorf("read the assigned ports (%s): %w; correct the file, or remove it to assign new ports", p.path, rooted.WithoutPath(err))
	}
	if r.Ports == nil {
		r.Ports = map[string]int{}
	}
	return r, nil
}

// save stores a port. A deleted worktree that had it before loses it. If it cannot be stored, the
// worktree is served nevertheless.
func (p *Ports) save(ctx context.Context, key string, port int) {
	if p.path == "" {
		p.own.set(key, port)
		return
	}
	if ownership.MakeAll(filepath.Dir(p.path)) != nil {
		return
	}
	_ = lockedstore.EditPrivate(ctx, p.path, portsTimeout, func([]byte) ([]byte, error) {
		r, err := p.load()
		if err != nil {
			return nil, err
		}
		if len(r.Ports) >= maxRemembered {
			for key := range r.Ports {
				if _, err := os.Stat(key); regular.Absent(err) {
					delete(r.Ports, key)
				}
			}
		}
		r.set(key, port)
		return json.MarshalIndent(r, "", "  ")
	})
}

// set assigns a port to only one worktree.
func (r record) set(key string, port int) {
	maps.DeleteFunc(r.Ports, func(_ string, other int) bool { return other == port })
	r.Ports[key] = port
}

// isBusy reports whether listening failed because another socket has the port. Windows has its own
// error number for it.
func isBusy(err error) bool {
	if errors.Is(err, syscall.EADDRINUSE) {
		return true
	}
	number, ok := errors.AsType[syscall.Errno](err)
	const wsaeaddrinuse, wsaeacces = 10048, 10013
	return ok && (number == wsaeaddrinuse || number == wsaeacces)
}
