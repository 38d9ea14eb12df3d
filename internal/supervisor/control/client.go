package control

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/copse-dev/copse/internal/supervisor"
)

// Client queries the supervising process. Its errors can be ErrNotRunning.
type Client struct {
	http *http.Client
	pid  atomic.Int64 // of the process at the other end, 0 if it is unknown
	// patience is the time limit of a sign of life.
	patience time.Duration
}

const (
	// timeout is the time limit of an answer: opening a worktree can wait for git.
	timeout  = 30 * time.Second
	patience = 4 * time.Second
)

// SilentError reports that the supervising process accepts connections and does not answer: somebody
// has stopped it, for example with Ctrl+Z.
type SilentError struct {
	PID int // 0 if the system does not report it
}

func (e *SilentError) Error() string {
	if e.PID == 0 {
		return "copse up does not answer; end its process, and start it with `copse up`"
	}
	return fmt.Sprintf("copse up (PID %d) does not answer; if it is stopped, continue it with `kill -CONT %[1]d`, or end it with `kill -KILL %[1]d`", e.PID)
}

// NewClient returns a client for the socket in a directory. Before it sends anything, it verifies
// that the directory, the socket, and the answering process belong to this user; otherwise, the
// error is a ForeignError.
func NewClient(dir string) *Client {
	c := &Client{patience: patience}
	c.http = &http.Client{Timeout: timeout, Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			conn, pid, err := dial(ctx, dir)
			c.pid.Store(int64(pid))
			return conn, err
		},
		DisableKeepAlives: true,
	}}
	return c
}

// Status returns the current status.
func (c *Client) Status(ctx context.Context) (s Status, err error) {
	err = c.ask(ctx, http.MethodGet, "status", "", &s)
	return s, err
}

// Join serves the worktrees of the repository that contains dir.
func (c *Client) Join(ctx context.Context, dir string) error {
	return c.ask(ctx, http.MethodPost, "join", dir, &target{})
}

// Open serves the worktree that contains dir.
func (c *Client) Open(ctx context.Context, dir string) (s supervisor.State, err error) {
	err = c.ask(ctx, http.MethodPost, "open", dir, &s)
	return s, err
}

// Close stops serving the worktree that contains dir.
func (c *Client) Close(ctx context.Context, dir string) (s supervisor.State, err error) {
	err = c.ask(ctx, http.MethodPost, "close", dir, &s)
	return s, err
}

// Move assigns new ports to those worktrees of the repository that contains dir whose ports other
// programs use.
func (c *Client) Move(ctx context.Context, dir string) error {
	return c.ask(ctx, http.MethodPost, "move", dir, &target{})
}

// Board returns a link to the board of the worktree that contains dir. It works once, within a
// minute.
func (c *Client) Board(ctx context.Context, dir string, readOnly bool) (url string, err error) {
	var link boardLink
	err = c.post(ctx, http.MethodPost, "board", boardTarget{dir, readOnly}, &link)
	return link.URL, err
}

// Reload makes the process read the tokens again.
func (c *Client) Reload(ctx context.Context) error {
	return c.ask(ctx, http.MethodPost, "reload", "", &target{})
}

// Stop ends the process.
func (c *Client) Stop(ctx context.Context) error {
	return c.ask(ctx, http.MethodPost, "stop", "", &target{})
}

func (c *Client) ask(ctx context.Context, method, what, path string, into any) error {
	return c.post(ctx, method, what, target{path}, into)
}

// post sends a request with a body and decodes the answer.
func (c *Client) post(ctx context.Context, method, what string, asked, into any) error {
	body, err := json.Marshal(asked)
	if err != nil {
		return err
	}
	if err := c.alive(ctx); err != nil {
		return err
	}
	res, err := c.send(ctx, method, what, body)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		var f failure
		if err := json.NewDecoder(res.Body).Decode(&f); err != nil || f.Error == "" {
			return fmt.Errorf("contact copse up: %s", res.Status)
		}
		return errors.New(f.Error)
	}
	if err := json.NewDecoder(res.Body).Decode(into); err != nil {
		return fmt.Errorf("contact copse up: %w", err)
	}
	return nil
}

// alive waits for a sign of life: any answer, also that of another version.
func (c *Client) alive(ctx context.Context) error {
	soon, cancel := context.WithTimeout(ctx, c.patience)
	defer cancel()
	res, err := c.send(soon, http.MethodGet, "", nil)
	if err == nil {
		return res.Body.Close()
	}
	if soon.Err() != nil && ctx.Err() == nil {
		return &SilentError{int(c.pid.Load())}
	}
	return err
}

// send sends a request.
func (c *Client) send(ctx context.Context, method, what string, body []byte) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, "http://copse/"+what, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	res, err := c.http.Do(req)
	if foreign, ok := errors.AsType[*ForeignError](err); ok {
		return nil, foreign
	}
	if _, dial := errors.AsType[*net.OpError](err); dial || errors.Is(err, ErrNotRunning) {
		return nil, ErrNotRunning
	}
	if err != nil {
		return nil, fmt.Errorf("contact copse up: %w", err)
	}
	return res, nil
}
