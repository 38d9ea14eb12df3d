package mcptext

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"
	"sync"
)

// Bridge carries messages, one per line, between a conversation and a server over Streamable HTTP,
// as a client of the messages' own era does. It returns at the end of in.
func Bridge(ctx context.Context, url string, header http.Header, in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	b := &bridge{ctx: ctx, url: url, header: header, out: out}
	defer b.asking.Wait()
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		if err := b.post(bytes.Clone(lines.Bytes())); err != nil {
			return err
		}
	}
	b.end()
	cancel()
	return lines.Err()
}

type bridge struct {
	ctx    context.Context //nolint:containedctx // the conversation's, which is what a bridge is for
	url    string
	header http.Header
	asking sync.WaitGroup

	mu      sync.Mutex
	out     io.Writer
	session string
	version string
}

// message is what a bridge must know of one.
type message struct {
	ID     json.RawMessage
	Method string
	Params struct {
		ProtocolVersion string
		Name, URI       string
		Meta            map[string]json.RawMessage `json:"_meta"`
	}
}

func (b *bridge) post(line []byte) error {
	var m message
	_ = json.Unmarshal(line, &m) // what is wrong is the server's to say
	req, err := b.request(http.MethodPost, bytes.NewReader(line))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	if version, ok := m.Params.Meta["io.modelcontextprotocol/protocolVersion"]; ok {
		req.Header.Set("Mcp-Protocol-Version", strings.Trim(string(version), `"`))
		req.Header.Set("Mcp-Method", m.Method)
		if name := m.Params.Name + m.Params.URI; name != "" && m.Method != "completion/complete" {
			req.Header.Set("Mcp-Name", name)
		}
	}
	if m.ID == nil || m.Method == "initialize" {
		return b.exchange(req, m)
	}
	b.asking.Go(func() {
		if err := b.exchange(req, m); err != nil && b.ctx.Err() == nil {
			b.write(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":0,"message":%q}}`, m.ID, err))
		}
	})
	return nil
}

// request has the headers that all requests of a client have.
func (b *bridge) request(method string, body io.Reader) (*http.Request, error) {
	req, err := http.NewRequestWithContext(b.ctx, method, b.url, body)
	if err != nil {
		return nil, err
	}
	maps.Copy(req.Header, b.header)
	req.Header.Set("Accept", "application/json, text/event-stream")
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.session != "" {
		req.Header.Set("Mcp-Session-Id", b.session)
		req.Header.Set("Mcp-Protocol-Version", b.version)
	}
	return req, nil
}

// exchange sends a request and writes what comes back.
func (b *bridge) exchange(req *http.Request, m message) error {
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if id := res.Header.Get("Mcp-Session-Id"); id != "" && m.Method == "initialize" {
		b.mu.Lock()
		b.session, b.version = id, m.Params.ProtocolVersion
		b.mu.Unlock()
		b.listen()
	}
	return b.copy(res)
}

// copy writes the messages of a response.
func (b *bridge) copy(res *http.Response) error {
	if !strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
		body, err := io.ReadAll(res.Body)
		if body = bytes.TrimSpace(body); len(body) > 0 {
			b.write(body)
		}
		return err
	}
	events := bufio.NewReader(res.Body)
	for {
		line, err := events.ReadBytes('\n')
		if data, ok := bytes.CutPrefix(bytes.TrimSpace(line), []byte("data:")); ok && len(bytes.TrimSpace(data)) > 0 {
			b.write(bytes.TrimSpace(data))
		}
		if err != nil {
			return nil //nolint:nilerr // a stream ends when the server likes
		}
	}
}

// listen writes what the server sends unasked.
func (b *bridge) listen() {
	req, err := b.request(http.MethodGet, nil)
	if err != nil {
		return
	}
	b.asking.Go(func() {
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			return
		}
		defer res.Body.Close()
		_ = b.copy(res) // it ends with the conversation
	})
}

// end says goodbye.
func (b *bridge) end() {
	b.mu.Lock()
	known := b.session != ""
	b.mu.Unlock()
	if !known {
		return
	}
	if req, err := b.request(http.MethodDelete, nil); err == nil {
		if res, err := http.DefaultClient.Do(req); err == nil {
			_ = res.Body.Close()
		}
	}
}

func (b *bridge) write(data []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	_, _ = b.out.Write(append(data, '\n')) // a client that no longer reads has ended
}
