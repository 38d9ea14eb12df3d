// Package control lets other processes of the same user query and control the running supervisor,
// over a socket in a directory that only the user can enter.
//
// [Take] makes this process the supervising one; [ErrTaken] means that another one is. [Serve]
// handles requests, and [Client] sends them. A killed process leaves a socket behind, which does no
// harm: the lock next to it ended with the process.
//
// Both ends verify that the other end belongs to this user: they check the owner and mode of the
// directory and the socket, and on Linux and macOS the user of the other process. Windows does not
// report the user of the other process; there, the directory is below the user's profile, which the
// system closes to others.
package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"time"

	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/ownership"
	"github.com/copse-dev/copse/internal/supervisor"
)

const (
	socketName = "up.sock"
	lockName   = "up.lock"
	// maxSocket is the maximum length of a socket's path on all systems.
	maxSocket = 100
)

var (
	// ErrTaken reports that another process supervises.
	ErrTaken = errors.New("copse up is already running")
	// ErrNotRunning reports that no process supervises.
	ErrNotRunning = errors.New("copse up is not running; start it with `copse up`")
)

// Terms are what the flags of copse up decide for every repository that it serves.
type Terms struct {
	// Guarded means that a token is required.
	Guarded  bool `json:"guarded"`
	ReadOnly bool `json:"read_only"`
	// Omitted are the toolsets that are not served, and "prompts".
	Omitted []string `json:"omitted,omitempty"`
	// Listen are the addresses besides those of localhost.
	Listen []string `json:"listen,omitempty"`
	// Origins are those of the allowed web pages.
	Origins   []string `json:"origins,omitempty"`
	FirstPort int      `json:"first_port"`
}

// Exposed returns the addresses that other machines can reach.
func (t Terms) Exposed() []string {
	return slices.DeleteFunc(slices.Clone(t.Listen), func(host string) bool { return net.ParseIP(host).IsLoopback() })
}

// Status is the state of the supervisor.
type Status struct {
	PID int `json:"pid"`
	Terms
	Worktrees []supervisor.State `json:"worktrees"`
	// Unserved is the number of less recently used worktrees beyond the limit of a repository.
	Unserved int `json:"unserved,omitempty"`
	// Shared is the server that answers for all worktrees.
	Shared *supervisor.State `json:"shared,omitempty"`
}

// Servers returns the states of all servers, that of all worktrees last.
func (s Status) Servers() []supervisor.State {
	if s.Shared == nil {
		return s.Worktrees
	}
	return append(slices.Clone(s.Worktrees), *s.Shared)
}

// Failures returns a line for each server that does not run because of an error.
func (s Status) Failures() []string {
	var found []string
	for _, w := range s.Worktrees {
		if w.MCP.LastError != "" {
			found = append(found, cleantext.Line(w.Path+" is not served: "+w.MCP.LastError))
		}
	}
	if s.Shared != nil && s.Shared.MCP.LastError != "" {
		found = append(found, cleantext.Line("the server for all worktrees is not running: "+s.Shared.MCP.LastError))
	}
	return found
}

// Supervisor is the interface to query and control.
type Supervisor interface {
	Join(ctx context.Context, dir string) error
	Open(ctx context.Context, dir string) (supervisor.State, error)
	CloseWorktree(ctx context.Context, dir string) (supervisor.State, error)
	Move(ctx context.Context, dir string) error
	Status() []supervisor.State
	Shared() *supervisor.State
	Unserved() int
}

var _ Supervisor = (*supervisor.Supervisor)(nil)

// makePrivate creates a directory that only this user can enter, or checks that it is one.
func makePrivate(dir string) error {
	if err := ownership.MakeAll(dir); err != nil {
		return fmt.Errorf("create a directory for the socket: %w", err)
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() || !isOurs(info) {
		return &ForeignError{Path: dir, What: "is not a directory of this user alone"}
	}
	return nil
}

// target is the directory in a request.
type target struct {
	Path string `json:"path"`
}

// boardTarget is the worktree of the requested board, and boardLink the answer.
type boardTarget struct {
	Path     string `json:"path"`
	ReadOnly bool   `json:"read_only,omitempty"`
}

type boardLink struct {
	URL string `json:"url"`
}

// Options are the functions of Serve that do not concern the supervisor.
type Options struct {
	Terms Terms
	// Stop ends the process, Reload reads the tokens again.
	Stop   func()
	Reload func(context.Context) error
	// Board returns the host and the path of a link to the board of the worktree that contains dir.
	Board func(ctx context.Context, dir string, readOnly bool) (host, path string, err error)
}

// Serve answers other processes until the socket is closed.
func Serve(l net.Listener, s Supervisor, o Options) error {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /status", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, Status{PID: os.Getpid(), Terms: o.Terms, Worktrees: s.Status(), Unserved: s.Unserved(), Shared: s.Shared()}, nil)
	})
	steer := func(do func(context.Context, string) (any, error)) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			var t target
			if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 64<<10)).Decode(&t); err != nil {
				answer(w, nil, errors.New("the server does not support this request; the other copse may be another version"))
				return
			}
			v, err := do(r.Context(), t.Path)
			answer(w, v, err)
		}
	}
	mux.HandleFunc("POST /join", steer(func(ctx context.Context, dir string) (any, error) { return target{dir}, s.Join(ctx, dir) }))
	mux.HandleFunc("POST /open", steer(func(ctx context.Context, dir string) (any, error) { return s.Open(ctx, dir) }))
	mux.HandleFunc("POST /close", steer(func(ctx context.Context, dir string) (any, error) { return s.CloseWorktree(ctx, dir) }))
	mux.HandleFunc("POST /move", steer(func(ctx context.Context, dir string) (any, error) { return target{dir}, s.Move(ctx, dir) }))
	mux.HandleFunc("POST /reload", steer(func(ctx context.Context, dir string) (any, error) { return target{dir}, o.Reload(ctx) }))
	mux.HandleFunc("POST /board", func(w http.ResponseWriter, r *http.Request) {
		var t boardTarget
		if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 64<<10)).Decode(&t); err != nil || o.Board == nil {
			answer(w, nil, errors.New("this copse up has no board; it may be another version. `copse down` stops it"))
			return
		}
		host, path, err := o.Board(r.Context(), t.Path, t.ReadOnly)
		shared := s.Shared()
		if err == nil && (shared == nil || !shared.MCP.ServerRunning) {
			err = errors.New("the server that has the board is not running; `copse status` shows why")
		}
		if err != nil {
			answer(w, nil, err)
			return
		}
		answer(w, boardLink{fmt.Sprintf("http://%s:%d%s", host, shared.MCP.Port, path)}, nil)
	})
	mux.HandleFunc("POST /stop", func(w http.ResponseWriter, _ *http.Request) {
		// The process may end before this handler returns, so it sends the whole answer first.
		w.Header().Set("Content-Length", "3")
		_, _ = io.WriteString(w, "{}\n")
		_ = http.NewResponseController(w).Flush()
		o.Stop()
	})
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second, DisableGeneralOptionsHandler: true}
	if err := server.Serve(l); !errors.Is(err, net.ErrClosed) && !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// failure is an error on its way to another process.
type failure struct {
	Error string `json:"error"`
}

// answer writes v, or err.
func answer(w http.ResponseWriter, v any, err error) {
	w.Header().Set("Content-Type", "application/json")
	if err != nil {
		w.WriteHeader(http.StatusConflict)
		v = failure{err.Error()}
	}
	_ = json.NewEncoder(w).Encode(v) // the client may have disconnected
}
