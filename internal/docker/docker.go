// Package docker reads the state of containers through the Docker API, which Podman supports, too.
//
// Create a [Client] with [New]. [Client.Containers] returns the containers, those of a
// project first, and [Client.Logs] the last lines of one. The package guarantees that
//
//   - it only reads: it sends only GET and HEAD;
//   - it starts nothing and connects to nothing before the first call, and every call ends with
//     its context;
//   - names, images, and logs are clean text.
//
// The engine is the one of $DOCKER_HOST, else the first whose socket is in one of the
// default places. Errors name the tried socket, and are meant for display.
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
	"github.com/copse-dev/copse/internal/secret"
)

// Options select an engine.
type Options struct {
	// Getenv reads DOCKER_HOST, DOCKER_TLS_VERIFY, DOCKER_CERT_PATH and
	// XDG_RUNTIME_DIR.
	Getenv func(string) string
	Home   string
	GOOS   string
}

// ErrNoEngine reports that there is no engine.
var ErrNoEngine = errors.New("no container engine: neither $DOCKER_HOST nor a default socket of Docker or Podman")

// Client is a client of one engine. It is safe for concurrent use.
type Client struct {
	options Options

	mu   sync.Mutex
	host string
	api  *engine
}

// New returns a client. It does not look for an engine yet.
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
	// ExitCode is the exit code of the last run, if State is exited or dead.
	ExitCode int
	// Ended is when the last run ended, zero while the container runs.
	Ended time.Time
	// Ours means that the container belongs to the project: by its compose file, its dev container,
	// or a mounted directory of the project.
	Ours bool
}

// Problem describes the container's problem, "" if there is none.
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

// maxInspected is the maximum number of containers to inspect.
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
		// Podman's list contains no health, and no list contains the time of the last change.
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
		ID: item.ID, Image: cleantext.Line(item.Image), State: cleantext.Line(item.State), Name: short(item.ID), Ours: belongs(item, root),
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

// belongs reports whether a container belongs to the project at root.
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

// inspect completes a container. A container that no longer exists does not change.
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

// short returns the beginning of a container's ID, as engines show it.
func short(id string) string {
	const length = 12
	if len(id) > length && strings.Trim(id, "0123456789abcdef") == "" {
		return id[:length]
	}
	return cleantext.Cut(cleantext.Line(id), length)
}

// Logs returns the last n lines of a container's output. A mark of a cut is where the output begins or ends with a part
// of one of the context's secrets: engines store long lines in parts, and the last one may not have ended.
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
	return marked(secret.Of(ctx), strings.Join(lines[max(0, len(lines)-n):], "\n")), nil
}

// marked returns a text with a mark of a cut at an end where a part of a secret is.
func marked(known *secret.Set, text string) string {
	const mark = "…"
	if last := text[strings.LastIndexByte(text, '\n')+1:]; known.Redact(last+mark) != known.Redact(last)+mark {
		text += mark
	}
	if first, _, _ := strings.Cut(text, "\n"); known.Redact(mark+first) != mark+known.Redact(first) {
		text = mark + text
	}
	return text
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

// socket returns the first existing default socket, "" if there is none.
func (c *Client) socket() string {
	o := c.options
	if o.GOOS == "windows" {
		return "npipe:////./pipe/docker_engine" // the request reports whether it exists
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

// explain describes an error of the engine.
func (c *Client) explain(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	c.mu.Lock()
	host := c.host
	c.mu.Unlock()
	if errors.Is(err, os.ErrPermission) {
		return fmt.Errorf("this user may not use the container engine at %s", shown(host))
	}
	if _, failed := errors.AsType[*net.OpError](err); failed || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("the container engine at %s does not respond", shown(host))
	}
	return fmt.Errorf("query the container engine at %s: %q", shown(host), cleantext.Cut(cleantext.Line(err.Error()), 200)) // its words
}

// shown returns a host without a password.
func shown(host string) string {
	scheme, rest, ok := strings.Cut(host, "://")
	if at := strings.LastIndexByte(rest, '@'); ok && at >= 0 {
		return scheme + "://" + rest[at+1:]
	}
	return cleantext.Line(host)
}
