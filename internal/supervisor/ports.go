package supervisor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/copse-dev/copse/internal/lockedstore"
)

// Ports remembers which worktree had which port, in a file of the user.
type Ports struct {
	path  string
	first int
	own   record // where there is no file
}

// record is the file.
type record struct {
	Ports map[string]int `json:"ports"` // by key
}

const (
	// portsTimeout is how long another process may keep the file.
	portsTimeout = time.Second
	// maxRemembered is how many worktrees are remembered; those that are gone make
	// room.
	maxRemembered = 500
)

// NewPorts returns the ports that the file at path remembers; "" remembers none. They
// begin at first, 0 is FirstPort.
func NewPorts(path string, first int) *Ports {
	if first == 0 {
		first = FirstPort
	}
	return &Ports{path: path, first: first, own: record{Ports: map[string]int{}}}
}

// listen listens on the port of a worktree: the one that it had, else the first that is
// free and nobody else's.
func (p *Ports) listen(ctx context.Context, hosts []string, key string, taken map[int]bool) ([]net.Listener, int, error) {
	known := p.load()
	if port := known.Ports[key]; port != 0 && !taken[port] {
		if listeners, err := listenOn(ctx, hosts, port); err == nil {
			return listeners, port, nil
		}
	}
	others := map[int]bool{}
	for other, port := range known.Ports {
		if _, err := os.Stat(other); err == nil && other != key {
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
		case errors.Is(err, syscall.EADDRINUSE), errors.Is(err, syscall.EACCES), ctx.Err() == nil && isBusy(err):
			continue
		}
		return nil, 0, fmt.Errorf("listen: %w", err)
	}
	return nil, 0, errNoPort
}

func (p *Ports) load() record {
	if p.path == "" {
		return p.own
	}
	data, err := os.ReadFile(p.path)
	r := record{Ports: map[string]int{}}
	if err != nil || json.Unmarshal(data, &r) != nil || r.Ports == nil {
		return record{Ports: map[string]int{}} // what is not known is made anew
	}
	return r
}

// save remembers a port. That it cannot is no reason not to serve.
func (p *Ports) save(ctx context.Context, key string, port int) {
	if p.path == "" {
		p.own.Ports[key] = port
		return
	}
	if os.MkdirAll(filepath.Dir(p.path), 0o700) != nil {
		return
	}
	_ = lockedstore.EditPrivate(ctx, p.path, portsTimeout, func([]byte) ([]byte, error) {
		r := p.load()
		if len(r.Ports) >= maxRemembered {
			for key := range r.Ports {
				if _, err := os.Stat(key); err != nil {
					delete(r.Ports, key)
				}
			}
		}
		r.Ports[key] = port
		return json.MarshalIndent(r, "", "  ")
	})
}

// isBusy reports whether listening failed since others have the port: Windows has a
// number of its own for it.
func isBusy(err error) bool {
	number, ok := errors.AsType[syscall.Errno](err)
	const wsaeaddrinuse, wsaeacces = 10048, 10013
	return ok && (number == wsaeaddrinuse || number == wsaeacces)
}
