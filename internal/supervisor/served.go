package supervisor

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/copse-dev/copse/internal/httpguard"
)

// served is a worktree with its server.
type served struct {
	worktree  Worktree
	tokenFile string
	server    Server
	http      *http.Server
	port      int
	running   sync.WaitGroup

	mu  sync.Mutex
	err error
}

// inside is the server behind the guard, which is made before it.
type inside struct{ *served }

func (i inside) ServeHTTP(w http.ResponseWriter, r *http.Request) { i.server.ServeHTTP(w, r) }
func (i inside) HasSession(id string) bool                        { return i.server.HasSession(id) }

// start serves a worktree, on a port other than before if it moves. Its state contains any error. was
// is the worktree before, nil if there is none.
func (s *Supervisor) start(w Worktree, move bool, was *served, serve func(context.Context) Server) *served {
	one := &served{worktree: w, tokenFile: s.o.Gate.TokenFile(w)}
	fail := func(err error) *served {
		one.err = err
		return one
	}
	guarded, err := s.o.Gate.Guard(s.ctx, w, inside{one})
	if err != nil {
		return fail(err)
	}
	listeners, port, err := s.o.Ports.listen(s.ctx, s.o.Hosts, w.Key, s.taken(), move)
	if held, ok := errors.AsType[*HeldError](err); ok {
		return fail(errors.Join(held, s.distrust(w, held, was)))
	}
	if err != nil {
		return fail(err)
	}
	one.port, one.server = port, serve(s.ctx)
	one.http = httpguard.Server(guarded)
	one.http.ErrorLog = slog.NewLogLogger(s.o.Logger.Handler(), slog.LevelDebug)
	for _, l := range listeners {
		one.running.Go(func() {
			if err := one.http.Serve(httpguard.Listener(l)); !errors.Is(err, http.ErrServerClosed) {
				one.fail(err)
			}
		})
	}
	s.o.Logger.Info("serving", "path", w.Path, "port", port)
	return one
}

// distrust creates a new token for a worktree whose port another user may hold, once: its clients send
// the old one there, and the port can become free at any time.
func (s *Supervisor) distrust(w Worktree, held *HeldError, was *served) error {
	if held.Stranger = s.o.Own != nil && !s.o.Own(held.Port); !held.Stranger {
		return nil
	}
	if was != nil {
		if before, ok := errors.AsType[*HeldError](was.failure()); ok && before.Stranger {
			return nil
		}
	}
	return s.o.Gate.Renew(s.ctx, w)
}

// taken returns the ports of the running servers.
func (s *Supervisor) taken() map[int]bool {
	ports := map[int]bool{}
	for _, one := range s.served {
		ports[one.port] = true
	}
	if s.shared != nil {
		ports[s.shared.port] = true
	}
	return ports
}

func (one *served) fail(err error) {
	one.mu.Lock()
	defer one.mu.Unlock()
	one.err = err
}

// failure is the reason why the worktree is not served.
func (one *served) failure() error {
	one.mu.Lock()
	defer one.mu.Unlock()
	return one.err
}

// state returns its current state.
func (one *served) state() State {
	one.mu.Lock()
	defer one.mu.Unlock()
	state := State{Path: one.worktree.Path, Branch: one.worktree.Branch, TokenFile: one.tokenFile, MCP: MCP{Tools: []Tool{}}}
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

// stopTime is the time limit for answers in progress.
const stopTime = 300 * time.Millisecond

// stop frees the port and disconnects the clients.
func (one *served) stop() {
	if one.server == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), stopTime)
	defer cancel()
	one.server.Close()
	if one.http.Shutdown(ctx) != nil {
		_ = one.http.Close() // the listeners are already closed, and streams have no end
	}
	one.running.Wait()
}

// FirstPort is the first possible port.
const FirstPort = 3000

// lastPort is the last possible port.
const lastPort = 65535

// errNoPort reports that all are busy.
func errNoPort() error { return fmt.Errorf("no port is free from %d on", FirstPort) }

// listenOn listens on a port of all hosts, and always of loopback: clients look for the server at
// localhost, which must not be left to others.
func listenOn(ctx context.Context, hosts []string, port int) ([]net.Listener, error) {
	var listeners []net.Listener
	var config net.ListenConfig
	for _, at := range addresses(hosts) {
		l, err := config.Listen(ctx, at.network, net.JoinHostPort(at.host, strconv.Itoa(port)))
		if err != nil && at.optional && len(listeners) > 0 && !isBusy(err) {
			continue // a machine without IPv6
		}
		if err != nil {
			for _, l := range listeners {
				_ = l.Close()
			}
			return nil, err
		}
		listeners = append(listeners, l)
	}
	return listeners, nil
}

// address is an address to listen on.
type address struct {
	network, host string
	optional      bool
}

// addresses returns the hosts, and loopback in both families unless they include it.
func addresses(hosts []string) []address {
	var list []address
	covered := map[string]bool{} // the families whose loopback is included
	for _, host := range hosts {
		ip := net.ParseIP(host)
		network, loopback := "tcp6", net.IPv6loopback
		if ip.To4() != nil {
			network, loopback = "tcp4", net.IPv4(127, 0, 0, 1)
		}
		covered[network] = covered[network] || ip.IsUnspecified() || ip.Equal(loopback)
		list = append(list, address{network: network, host: host})
	}
	if !covered["tcp4"] {
		list = append(list, address{network: "tcp4", host: "127.0.0.1"})
	}
	if !covered["tcp6"] {
		list = append(list, address{network: "tcp6", host: "::1", optional: true})
	}
	return list
}
