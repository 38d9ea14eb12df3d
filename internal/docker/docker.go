// Package docker looks at containers through the Docker API, which Podman has too.
//
// Make a [Client] with [New] and ask [Client.Containers] for those that concern a
// project, and [Client.Logs] for the last lines of one. It guarantees that
//
//   - the engine is only read: nothing but GET and HEAD is sent;
//   - nothing is started or connected to before it is asked, and every call ends with
//     its context;
//   - names, images and logs come as clean text.
//
// The engine is the one of $DOCKER_HOST, else the first whose socket is in one of the
// default places. Errors say which socket was tried, and are for showing.
package docker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/copse-dev/copse/internal/cleantext"
)

// Options say where an engine may be.
type Options struct {
	// Getenv reads DOCKER_HOST, DOCKER_TLS_VERIFY, DOCKER_CERT_PATH and
	// XDG_RUNTIME_DIR.
	Getenv func(string) string
	Home   string
	GOOS   string
}

// ErrNoEngine says that there is no engine to ask.
var ErrNoEngine = errors.New("no container engine: neither $DOCKER_HOST nor a default socket of Docker or Podman")

// Client asks one engine. It is safe for concurrent use.
type Client struct {
	options Options

	mu   sync.Mutex
	host string
	api  *engine
}

// New returns a client. Nothing is looked for yet.
func New(o Options) *Client { return &Client{options: o} }

// Container is a container.
type Container struct {
	ID    string
	Name  string
	Image string
	// State is created, running, paused, restarting, removing, exited or dead.
	State string
	// Health is healthy, unhealthy or starting; empty without a health check.
	Health string
	// ExitCode is that of the last run, if State is exited or dead.
	ExitCode int
	// Ended is when the last run ended, zero while it goes on.
	Ended time.Time
	// Ours says that the container belongs to the project: by its compose file, its dev container,
	// or a directory of the project that is mounted in it.
	Ours bool
}

// Problem says what is wrong with the container, "" if nothing is.
func (c Container) Problem() string {
	switch {
	case c.Health == "unhealthy":
		return "unhealthy"
	case c.State == "restarting":
		return "restarting"
	case c.State == "dead":
		return "dead"
	case c.State == "exited" && c.ExitCode != 0:
		return fmt.Sprintf("exited with %d", c.ExitCode)
	}
	return ""
}

// maxInspected is how many containers are looked at more closely.
const maxInspected = 20

// Containers returns the containers, those of the project at root first.
func (c *Client) Containers(ctx context.Context, root string) ([]Container, error) {
	api, err := c.open()
	if err != nil {
		return nil, err
	}
	list, err := api.list(ctx)
	if err != nil {
		return nil, c.explain(ctx, err)
	}
	found := make([]Container, 0, len(list))
	for _, item := range list {
		found = append(found, summary(item, root))
	}
	slices.SortStableFunc(found, func(a, b Container) int {
		if a.Ours != b.Ours {
			return map[bool]int{true: -1, false: 1}[a.Ours]
		}
		return strings.Compare(a.Name, b.Name)
	})
	inspected := 0
	for i := range found {
		// The list of Podman does not tell of health, and none tells since when.
		closer := found[i].Problem() != "" || found[i].Ours && found[i].State == "running"
		if !closer || inspected == maxInspected {
			continue
		}
		inspected++
		if err := c.inspect(ctx, api, &found[i]); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// summary reads an element of the list.
func summary(item listed, root string) Container {
	out := Container{
		ID: item.ID, Image: cleantext.Line(item.Image), State: cleantext.Line(item.State), Name: item.ID[:min(12, len(item.ID))], Ours: belongs(item, root),
	}
	if len(item.Names) > 0 {
		out.Name = cleantext.Line(strings.TrimPrefix(item.Names[0], "/"))
	}
	// The status is for people: "Exited (1) 3 hours ago", "Up 2 minutes (unhealthy)".
	if _, rest, ok := strings.Cut(item.Status, "("); ok {
		if word, _, ok := strings.Cut(rest, ")"); ok {
			if code, err := strconv.Atoi(word); err == nil {
				out.ExitCode = code
			} else if out.State == "running" {
				out.Health = strings.TrimPrefix(cleantext.Line(word), "health: ")
			}
		}
	}
	if h := item.Health.status(); h != "" {
		out.Health = h
	}
	return out
}

// belongs reports whether a container is of the project at root.
func belongs(item listed, root string) bool {
	for _, label := range []string{"com.docker.compose.project.working_dir", "io.podman.compose.project.working_dir", "devcontainer.local_folder"} {
		if inside(item.Labels[label], root) {
			return true
		}
	}
	return slices.ContainsFunc(item.Mounts, func(m mount) bool { return inside(m.Source, root) })
}

// inside reports whether an absolute path is root, or below it.
func inside(path, root string) bool {
	if !filepath.IsAbs(path) {
		return false
	}
	rel, err := filepath.Rel(root, path)
	return err == nil && filepath.IsLocal(rel)
}

// inspect completes a container. One that is gone meanwhile stays as it was.
func (c *Client) inspect(ctx context.Context, api *engine, out *Container) error {
	found, err := api.inspect(ctx, out.ID)
	if err != nil {
		if ctx.Err() != nil {
			return c.explain(ctx, err)
		}
		return nil
	}
	state := found.State
	if state == nil {
		return nil
	}
	out.State, out.ExitCode = cleantext.Line(state.Status), state.ExitCode
	if h := state.Health.status(); h != "" {
		out.Health = h
	}
	if out.State == "exited" || out.State == "dead" {
		if ended, err := time.Parse(time.RFC3339Nano, state.FinishedAt); err == nil {
			out.Ended = ended
		}
	}
	return nil
}

// Logs returns the last n lines that a container printed.
func (c *Client) Logs(ctx context.Context, id string, n int) (string, error) {
	api, err := c.open()
	if err != nil {
		return "", err
	}
	text, err := api.logs(ctx, id, n)
	if err != nil {
		return "", c.explain(ctx, err)
	}
	lines := strings.Split(strings.TrimRight(cleantext.Block(text), "\n"), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n"), nil
}

// open returns the client of the engine.
func (c *Client) open() (*engine, error) {
	host := cmp.Or(c.options.Getenv("DOCKER_HOST"), c.socket())
	if host == "" {
		return nil, ErrNoEngine
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.api != nil && c.host == host {
		return c.api, nil
	}
	api, err := dial(host, c.options.Getenv("DOCKER_CERT_PATH"))
	if err != nil {
		return nil, fmt.Errorf("the container engine at %s cannot be used: %w", shown(host), err)
	}
	c.host, c.api = host, api
	return api, nil
}

// socket returns the first default socket that is there, "" if none is.
func (c *Client) socket() string {
	o := c.options
	if o.GOOS == "windows" {
		return "npipe:////./pipe/docker_engine" // asking reports whether it is there
	}
	candidates := []string{"/var/run/docker.sock"}
	if o.Home != "" {
		candidates = append(candidates, filepath.Join(o.Home, ".docker", "run", "docker.sock"), filepath.Join(o.Home, ".docker", "desktop", "docker.sock"))
	}
	if run := o.Getenv("XDG_RUNTIME_DIR"); run != "" {
		candidates = append(candidates, filepath.Join(run, "docker.sock"), filepath.Join(run, "podman", "podman.sock"))
	}
	if o.Home != "" {
		candidates = append(candidates, filepath.Join(o.Home, ".local", "share", "containers", "podman", "machine", "podman.sock"))
	}
	for _, path := range append(candidates, "/run/podman/podman.sock") {
		if info, err := os.Stat(path); err == nil && info.Mode()&os.ModeSocket != 0 {
			return "unix://" + path
		}
	}
	return ""
}

// explain words an error of the engine.
func (c *Client) explain(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	c.mu.Lock()
	host := c.host
	c.mu.Unlock()
	if errors.Is(err, os.ErrPermission) {
		return fmt.Errorf("the container engine at %s may not be asked by this user", shown(host))
	}
	if _, failed := errors.AsType[*net.OpError](err); failed || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("the container engine at %s does not answer", shown(host))
	}
	return fmt.Errorf("ask the container engine at %s: %s", shown(host), cleantext.Cut(cleantext.Line(err.Error()), 200))
}

// shown returns a host without a password.
func shown(host string) string {
	scheme, rest, ok := strings.Cut(host, "://")
	if at := strings.LastIndexByte(rest, '@'); ok && at >= 0 {
		return scheme + "://" + rest[at+1:]
	}
	return cleantext.Line(host)
}
