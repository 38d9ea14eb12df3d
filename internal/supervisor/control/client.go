package control

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/copse-dev/copse/internal/supervisor"
)

// Client queries the supervising process. Its errors can be ErrNotRunning.
type Client struct{ http *http.Client }

// timeout is the time limit of an answer: opening a worktree can wait for git.
const timeout = 30 * time.Second

// NewClient returns a client for the socket in a directory. Before it sends anything, it verifies
// that the directory, the socket, and the answering process belong to this user; otherwise, the
// error is a ForeignError.
func NewClient(dir string) *Client {
	return &Client{&http.Client{Timeout: timeout, Transport: &http.Transport{
		DialContext:       func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx, dir) },
		DisableKeepAlives: true,
	}}}
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
	req, err := http.NewRequestWithContext(ctx, method, "http://copse/"+what, bytes.NewReader(body))
	if err != nil {
		return err
	}
	res, err := c.http.Do(req)
	if foreign, ok := errors.AsType[*ForeignError](err); ok {
		return foreign
	}
	if _, dial := errors.AsType[*net.OpError](err); dial || errors.Is(err, ErrNotRunning) {
		return ErrNotRunning
	}
	if err != nil {
		return fmt.Errorf("contact copse up: %w", err)
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
