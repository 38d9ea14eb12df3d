package supervisor

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/copse-dev/copse/internal/httpguard"
)

// served is a worktree with its server.
type served struct {
	worktree Worktree
	server   Server
	http     *http.Server
	port     int
	running  sync.WaitGroup

	mu  sync.Mutex
	err error
}

// start serves a worktree. What goes wrong is in its state.
func (s *Supervisor) start(w Worktree) *served {
	one := &served{worktree: w}
	listeners, port, err := s.o.Ports.listen(s.ctx, s.o.Hosts, w.Key, s.taken())
	if err != nil {
		one.err = err
		s.o.Logger.Warn("a worktree is not served", "path", w.Path, "error", err)
		return one
	}
	one.port, one.server = port, s.o.Serve(s.ctx, w.Path)
	one.http = httpguard.Server(s.o.Guard(one.server))
	one.http.ErrorLog = slog.NewLogLogger(s.o.Logger.Handler(), slog.LevelDebug)
	for _, l := range listeners {
		one.running.Go(func() {
			if err := one.http.Serve(l); !errors.Is(err, http.ErrServerClosed) {
				one.fail(err)
			}
		})
	}
	s.o.Logger.Info("serving", "path", w.Path, "port", port)
	return one
}

// taken are the ports of the servers that run.
func (s *Supervisor) taken() map[int]bool {
	ports := map[int]bool{}
	for _, one := range s.served {
		ports[one.port] = true
	}
	return ports
}

func (one *served) fail(err error) {
	one.mu.Lock()
	defer one.mu.Unlock()
	one.err = err
}

// state tells how it is at this moment.
func (one *served) state() State {
	one.mu.Lock()
	defer one.mu.Unlock()
	state := State{Path: one.worktree.Path, Branch: one.worktree.Branch, MCP: MCP{Tools: []Tool{}}}
	if one.err != nil {
		state.MCP.LastError = one.err.Error()
	}
	if one.server == nil {
		return state
	}
	state.MCP.ServerRunning = one.err == nil
	state.MCP.Port = one.port
	state.MCP.ConnectedClients = one.server.Clients()
	state.MCP.Tools = one.server.Tools()
	return state
}

// stopTime is how long answers that are on their way may take to leave.
const stopTime = 300 * time.Millisecond

// stop frees the port and lets go of the clients.
func (one *served) stop() {
	if one.server == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), stopTime)
	defer cancel()
	one.server.Close()
	if one.http.Shutdown(ctx) != nil {
		_ = one.http.Close() // the listeners are closed already, and streams have no end
	}
	one.running.Wait()
}

// FirstPort is where ports begin.
const FirstPort = 3000

// lastPort is where they end.
const lastPort = 65535

// errNoPort says that all are busy.
var errNoPort = errors.New("no port is free from " + strconv.Itoa(FirstPort) + " on")

// listenOn listens on a port of all hosts.
func listenOn(ctx context.Context, hosts []string, port int) ([]net.Listener, error) {
	var listeners []net.Listener
	var config net.ListenConfig
	closeAll := func() {
		for _, l := range listeners {
			_ = l.Close()
		}
	}
	loopback := len(hosts) == 0
	if loopback {
		hosts = []string{"127.0.0.1", "::1"}
	}
	for _, host := range hosts {
		l, err := config.Listen(ctx, "tcp", net.JoinHostPort(host, strconv.Itoa(port)))
		if err != nil && loopback && host == "::1" && len(listeners) > 0 && !errors.Is(err, syscall.EADDRINUSE) {
			continue // a machine without IPv6
		}
		if err != nil {
			closeAll()
			return nil, err
		}
		listeners = append(listeners, l)
	}
	return listeners, nil
}
