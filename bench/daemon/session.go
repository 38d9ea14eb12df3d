package daemon

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// Session is a session with a server, in which one call is repeated.
type Session struct {
	url, token, session, tool, args string
	http                            *http.Client
	id                              int
}

// Dial begins a session and makes the first call.
func Dial(ctx context.Context, url, token, tool, args string) (*Session, error) {
	c := &Session{url: url, token: token, tool: tool, args: args, http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 2}}}
	for range 100 {
		res, err := c.send(ctx, http.MethodPost, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}`)
		if err != nil {
			if ctx.Err() != nil {
				return c, ctx.Err()
			}
			time.Sleep(20 * time.Millisecond) // it is starting
			continue
		}
		if c.session = res.session; c.session == "" {
			return c, fmt.Errorf("initialize: status %d", res.status)
		}
		if _, err := c.send(ctx, http.MethodPost, `{"jsonrpc":"2.0","method":"notifications/initialized"}`); err != nil {
			return c, err
		}
		_, err = c.Call(ctx)
		return c, err
	}
	return c, errors.New("the server does not answer")
}

// Call makes the call, and returns its time.
func (c *Session) Call(ctx context.Context) (time.Duration, error) {
	c.id++
	begun := time.Now()
	res, err := c.send(ctx, http.MethodPost, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, c.id, c.tool, c.args))
	took := time.Since(begun)
	if err == nil && res.status != http.StatusOK {
		err = fmt.Errorf("%s: status %d", c.tool, res.status)
	}
	return took, err
}

// reply is what an answer says around its body.
type reply struct {
	status  int
	session string
}

// send sends a message and reads the answer.
func (c *Session) send(ctx context.Context, method, body string) (reply, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.url, bytes.NewReader([]byte(body)))
	if err != nil {
		return reply{}, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	if c.session != "" {
		req.Header.Set("Mcp-Session-Id", c.session)
	}
	res, err := c.http.Do(req)
	if err != nil {
		return reply{}, err
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err == nil && bytes.Contains(data, []byte(`"isError":true`)) && json.Valid(data) {
		err = fmt.Errorf("%s", data)
	}
	return reply{res.StatusCode, res.Header.Get("Mcp-Session-Id")}, err
}

// Close ends the session.
func (c *Session) Close() {
	_, _ = c.send(context.Background(), http.MethodDelete, "") // the server may be gone
	c.http.CloseIdleConnections()
}
