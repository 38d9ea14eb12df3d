// Package supervisor runs one server for each worktree, and follows the
// worktrees as they change.
//
// Create a [Supervisor] with [New] and add a repository with [Supervisor.Join], or
// single directories with [Supervisor.Open] and [Supervisor.CloseWorktree];
// [Supervisor.Status] returns the state of all servers. It guarantees that
//
//   - a worktree that git adds, moves, or removes gets, or loses, its server within two
//     seconds; the supervisor watches git's own files for it, and checks once a second whether
//     the directories still exist;
//   - ports count up from the first and skip busy ones. A worktree keeps its port, even when
//     it moves: while another program holds that port, the worktree is not served, and
//     its state reports that, until the port is free or [Supervisor.Move] assigns another. If
//     the program may be another user's, the worktree gets a new token at once;
//   - a server that stops frees its port and disconnects its clients immediately;
//   - a worktree that cannot be served does not affect the others: its state contains the reason.
package supervisor

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/copse-dev/copse/internal/httpguard"
	"github.com/copse-dev/copse/internal/regular"
)

// Server serves one worktree.
type Server interface {
	http.Handler
	httpguard.Sessions
	Tools() []Tool
	// Clients is the number of connected clients.
	Clients() int
	// Close ends all sessions and calls.
	Close()
}

// Tool is a tool in the state of a worktree.
type Tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
}

// Worktree is a directory to serve.
type Worktree struct {
	// Path is absolute, without links.
	Path string
	// Branch is the current branch, if there is one.
	Branch string
	// Key stays the same when the directory is moved.
	Key string
}

// Repository finds worktrees.
type Repository interface {
	// Worktrees lists those of the repository that contains dir; only dir outside one. The list is
	// limited: more is the number of other worktrees. It has that of dir, and prefers the served paths.
	Worktrees(ctx context.Context, dir string, served []string) (list []Worktree, more int, err error)
	// Worktree is the one that contains dir.
	Worktree(ctx context.Context, dir string) (Worktree, error)
	// Watch calls changed whenever the list may have changed, until ctx ends.
	Watch(ctx context.Context, dir string, changed func()) error
}

// Gate admits the clients of a worktree, and nobody else.
type Gate interface {
	// Guard wraps a worktree's server.
	Guard(ctx context.Context, w Worktree, server http.Handler) (http.Handler, error)
	// Renew creates a new token for a worktree whose old one strangers may know.
	Renew(ctx context.Context, w Worktree) error
	// Refresh applies tokens that another process has created. The supervisor calls it once a second.
	Refresh(ctx context.Context)
	// TokenFile is the path of a worktree's token; "" if none is required.
	TokenFile(w Worktree) string
}

// Options configure the servers.
type Options struct {
	Repository Repository
	// Serve creates the server of a directory.
	Serve func(ctx context.Context, path string) Server
	// Shared creates the server that answers for all worktrees, with its own port and its own
	// token. Nil creates none.
	Shared func(ctx context.Context) Server
	// SharedKey is the key of that server: a constant path.
	SharedKey string
	Gate      Gate
	Ports     *Ports
	// Own reports whether the programs that listen on a port belong to this user; nil takes all for
	// such.
	Own func(port int) bool
	// Hosts are the addresses to listen on besides loopback.
	Hosts  []string
	Logger *slog.Logger
}

// State is a worktree and its server.
type State struct {
	Path   string `json:"path"`
	Branch string `json:"branch,omitempty"`
	// TokenFile contains the token that clients of this worktree send.
	TokenFile string `json:"token_file,omitempty"`
	MCP       MCP    `json:"mcp"`
}

// MCP is the state of a server.
type MCP struct {
	ServerRunning    bool   `json:"server_running"`
	Port             int    `json:"port,omitempty"`
	ConnectedClients int    `json:"connected_clients"`
	Tools            []Tool `json:"tools"`
	LastError        string `json:"last_error,omitempty"`
}

// Supervisor runs servers. It is safe for concurrent use.
type Supervisor struct {
	o       Options
	ctx     context.Context //nolint:containedctx // the lifetime of servers, which is longer than any call
	cancel  context.CancelFunc
	running sync.WaitGroup

	mu     sync.Mutex
	repos  map[string][]Worktree // by the directory they were joined from
	opened map[string]Worktree   // by path
	closed map[string]bool       // by path
	served map[string]*served    // by path
	shared *served
	more   map[string]int    // by the key of a repository's first worktree, how many are not served
	gone   map[string]string // worktrees that git no longer lists, with their repository
}

// lookEvery is the interval between two checks whether directories still exist.
const lookEvery = time.Second

// New returns a supervisor without servers. Close it after use.
func New(o Options) *Supervisor {
	s := &Supervisor{
		o: o, repos: map[string][]Worktree{}, opened: map[string]Worktree{}, closed: map[string]bool{}, served: map[string]*served{},
		gone: map[string]string{}, more: map[string]int{},
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.running.Go(s.look)
	return s
}

// ErrClosed reports that the supervisor has ended.
var ErrClosed = errors.New("copse up is shutting down")

// Join serves the worktrees of the repository that contains dir, from now on.
func (s *Supervisor) Join(ctx context.Context, dir string) error {
	list, more, err := s.worktrees(ctx, dir)
	if err != nil {
		return err
	}
	var own Worktree // a limited list of a joined repository may be without it
	if more > 0 {
		if own, err = s.o.Repository.Worktree(ctx, dir); err != nil {
			return err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ctx.Err() != nil {
		return ErrClosed
	}
	for _, w := range list {
		delete(s.closed, w.Path)
	}
	s.noteMore(list, more)
	// One watch is enough for all worktrees of a repository.
	for _, known := range s.repos {
		if len(list) > 0 && slices.ContainsFunc(known, func(w Worktree) bool { return w.Key == list[0].Key }) {
			if !slices.ContainsFunc(known, func(w Worktree) bool { return w.Path == own.Path }) && own.Path != "" {
				s.opened[own.Path] = own
			}
			s.apply()
			return nil
		}
	}
	if _, joined := s.repos[dir]; joined && len(list) == 0 {
		return nil
	}
	s.repos[dir] = list
	s.apply()
	s.running.Go(func() {
		if err := s.o.Repository.Watch(s.ctx, dir, func() { s.refresh(dir) }); err != nil && s.ctx.Err() == nil {
			s.o.Logger.Warn("worktrees are not watched", "directory", dir, "error", err)
		}
	})
	return nil
}

// worktrees lists the worktrees of the repository that contains dir, and prefers those that are
// served: a limited list does not disconnect their clients.
func (s *Supervisor) worktrees(ctx context.Context, dir string) (list []Worktree, more int, err error) {
	s.mu.Lock()
	served := slices.Collect(maps.Keys(s.served))
	s.mu.Unlock()
	return s.o.Repository.Worktrees(ctx, dir, served)
}

// noteMore logs how many worktrees of a repository a limited list leaves out, once for each number.
// The caller holds the lock.
func (s *Supervisor) noteMore(list []Worktree, more int) {
	main := ordered(slices.Clone(list))
	if len(main) == 0 || s.more[main[0].Key] == more {
		return
	}
	s.more[main[0].Key] = more
	if more > 0 {
		s.o.Logger.Warn("less recently used worktrees are not served; `copse open PATH` serves one", "repository", main[0].Path, "number", more)
	}
}

// Unserved returns how many worktrees the limits of repositories leave out.
func (s *Supervisor) Unserved() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.unserved()
}

// unserved does the same. The caller holds the lock.
func (s *Supervisor) unserved() int {
	sum := 0
	for _, more := range s.more {
		sum += more
	}
	return sum
}

// Open serves the worktree that contains dir.
func (s *Supervisor) Open(ctx context.Context, dir string) (State, error) {
	w, err := s.o.Repository.Worktree(ctx, dir)
	if err != nil {
		return State{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ctx.Err() != nil {
		return State{}, ErrClosed
	}
	delete(s.closed, w.Path)
	s.opened[w.Path] = w
	s.apply()
	return s.served[w.Path].state(), nil
}

// NotServedError reports that a directory has no server.
type NotServedError struct{ Path string }

func (e *NotServedError) Error() string {
	return e.Path + " is not served; `copse status` shows what is"
}

// CloseWorktree stops the server of the worktree that contains dir, until it is opened again.
func (s *Supervisor) CloseWorktree(ctx context.Context, dir string) (State, error) {
	path := dir
	if w, err := s.o.Repository.Worktree(ctx, dir); err == nil {
		path = w.Path
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	one := s.served[path]
	if one == nil {
		return State{}, &NotServedError{Path: path}
	}
	delete(s.opened, path)
	s.closed[path] = true
	state := one.state()
	s.apply()
	state.MCP = MCP{Tools: []Tool{}}
	return state, nil
}

// Move assigns new ports to those worktrees of the repository that contains dir whose ports other
// programs hold. They also get new tokens: their clients may have sent the old ones to those
// programs.
func (s *Supervisor) Move(ctx context.Context, dir string) error {
	list, _, err := s.worktrees(ctx, dir)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ctx.Err() != nil {
		return ErrClosed
	}
	for _, w := range ordered(list) {
		one := s.served[w.Path]
		if one == nil {
			continue
		}
		if _, held := errors.AsType[*HeldError](one.failure()); !held {
			continue
		}
		if err := s.o.Gate.Renew(ctx, w); err != nil {
			return err
		}
		s.serve(w, true)
	}
	if s.shared == nil {
		return nil
	}
	if _, held := errors.AsType[*HeldError](s.shared.failure()); held {
		if err := s.o.Gate.Renew(ctx, s.shared.worktree); err != nil {
			return err
		}
		s.shared = s.start(s.shared.worktree, true, s.shared, s.o.Shared)
	}
	return nil
}

// Shared returns the state of the server that answers for all worktrees, nil if there is
// none. It has no path.
func (s *Supervisor) Shared() *State {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.shared == nil {
		return nil
	}
	state := s.shared.state()
	return &state
}

// serve starts the server of a worktree. The caller holds the lock.
func (s *Supervisor) serve(w Worktree, move bool) {
	was := s.served[w.Path]
	one := s.start(w, move, was, func(ctx context.Context) Server { return s.o.Serve(ctx, w.Path) })
	s.served[w.Path] = one
	// The supervisor retries a worktree that cannot be served, and logs it once.
	if err := one.failure(); err != nil && (was == nil || was.failure() == nil || was.failure().Error() != err.Error()) {
		s.o.Logger.Warn("a worktree is not served", "path", w.Path, "error", err)
	}
}

// Status returns the states of all worktrees, by port.
func (s *Supervisor) Status() []State {
	s.mu.Lock()
	states := []State{}
	for _, one := range s.served {
		states = append(states, one.state())
	}
	s.mu.Unlock()
	for i := range states {
		// The current branch can change without a notification.
		if w, err := s.o.Repository.Worktree(s.ctx, states[i].Path); err == nil {
			states[i].Branch = w.Branch
		}
	}
	slices.SortFunc(states, func(a, b State) int {
		if a.MCP.Port != b.MCP.Port {
			return a.MCP.Port - b.MCP.Port
		}
		return strings.Compare(a.Path, b.Path)
	})
	return states
}

// Close stops all servers, which frees their ports.
func (s *Supervisor) Close() {
	s.mu.Lock()
	s.cancel()
	s.repos, s.opened = map[string][]Worktree{}, map[string]Worktree{}
	s.apply()
	if s.shared != nil {
		s.shared.stop()
		s.shared = nil
	}
	s.mu.Unlock()
	s.running.Wait()
}

// refresh lists the worktrees of a repository again.
func (s *Supervisor) refresh(dir string) {
	list, more, err := s.worktrees(s.ctx, s.stillThere(dir))
	if err != nil {
		// Known worktrees continue: a temporary failure of git is not a reason to disconnect their
		// clients, and deleted directories are noticed anyway.
		if s.ctx.Err() == nil {
			s.o.Logger.Warn("worktrees cannot be listed", "directory", dir, "error", err)
		}
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	known, joined := s.repos[dir]
	if !joined || s.ctx.Err() != nil {
		return
	}
	s.noteMore(list, more)
	for _, w := range known {
		if !slices.ContainsFunc(list, func(now Worktree) bool { return now.Path == w.Path }) {
			s.gone[w.Path] = dir
		}
	}
	s.repos[dir] = list
	s.apply()
}

// returned lists the repositories of worktrees that exist again: git does not list one whose
// directory is missing, and does not notice when it comes back. The caller holds the lock.
func (s *Supervisor) returned() []string {
	var dirs []string
	for path, dir := range s.gone {
		if isDir(path) {
			delete(s.gone, path)
			dirs = append(dirs, dir)
		}
	}
	slices.Sort(dirs)
	return slices.Compact(dirs)
}

// stillThere returns dir, or, if it no longer exists, another worktree of its repository.
func (s *Supervisor) stillThere(dir string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if isDir(dir) {
		return dir
	}
	for _, w := range s.repos[dir] {
		if isDir(w.Path) {
			return w.Path
		}
	}
	return dir
}

// look notices directories that appear and disappear without git.
func (s *Supervisor) look() {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-s.ctx.Done():
			return
		case <-tick.C:
			s.o.Gate.Refresh(s.ctx)
			s.mu.Lock()
			s.apply()
			dirs := s.returned()
			s.mu.Unlock()
			for _, dir := range dirs {
				s.refresh(dir)
			}
		}
	}
}

// isDir reports whether a path is a directory, or may be one that cannot be seen at the moment.
func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir() || regular.Unseen(err)
}

// apply starts and stops servers to match the existing wanted worktrees. The caller holds the lock.
func (s *Supervisor) apply() {
	wanted := map[string]Worktree{}
	for _, list := range s.repos {
		for _, w := range list {
			wanted[w.Path] = w
		}
	}
	maps.Copy(wanted, s.opened)
	for path := range s.closed {
		_, ok := wanted[path]
		// A limited list can be without a worktree that still exists.
		if !ok && (s.unserved() == 0 || !isDir(path)) {
			delete(s.closed, path) // a new one with that path is not closed
		}
	}
	for path := range wanted {
		if s.closed[path] || !isDir(path) {
			delete(wanted, path)
		}
	}
	var stopping sync.WaitGroup
	for path, one := range s.served {
		if w, ok := wanted[path]; !ok || w.Key != one.worktree.Key {
			stopping.Go(one.stop) // each waits for its own calls to end
			delete(s.served, path)
		}
	}
	stopping.Wait()
	// In a fixed order, so ports are the same each time: the main worktree comes first.
	for _, w := range ordered(slices.Collect(maps.Values(wanted))) {
		if one := s.served[w.Path]; one == nil || one.server == nil {
			s.serve(w, false)
		}
	}
	// After the worktrees, whose ports begin at the first one.
	if s.o.Shared != nil && s.ctx.Err() == nil && len(s.served) > 0 && (s.shared == nil || s.shared.server == nil) {
		s.shared = s.start(Worktree{Key: s.o.SharedKey}, false, s.shared, s.o.Shared)
	}
}

// ordered returns worktrees by path, those that contain others first.
func ordered(list []Worktree) []Worktree {
	slices.SortFunc(list, func(a, b Worktree) int {
		if mainA, mainB := a.main(), b.main(); mainA != mainB {
			if mainA {
				return -1
			}
			return 1
		}
		return strings.Compare(a.Path, b.Path)
	})
	return list
}

// main reports whether the worktree is the main one, whose key is not inside another's.
func (w Worktree) main() bool { return filepath.Base(filepath.Dir(w.Key)) != "worktrees" }
