// Package wire checks and encodes the messages of the protocol: results that encode themselves in one
// pass, schemas, and the refusal of malformed requests.
package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/copse-dev/copse/internal/toolset"
)

// callResult is a result of text and JSON that encodes itself in one pass. The library scans the
// structured half three times and the text twice, which takes longer than most tools do.
type callResult struct {
	*mcp.CallToolResult
	parked *Parked // nil if the library writes the result
}

// Parked holds encoded results from the time when the library asks for them until the connection
// writes them. The library gets a short text instead, because it would check and copy each result
// again. It is safe for concurrent use.
type Parked struct {
	mu      sync.Mutex
	last    uint64
	results map[string][]byte // by the short text
}

// parkedKey is the key of the context of a connection that writes parked results.
type parkedKey struct{}

// WithParked returns the context of a connection that writes parked results, and those.
func WithParked(ctx context.Context) (context.Context, *Parked) {
	p := &Parked{results: make(map[string][]byte)}
	return context.WithValue(ctx, parkedKey{}, p), p
}

// put holds a result, and returns its short text: JSON, and not an object, which each result is.
func (p *Parked) put(result []byte) []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last++
	short := strconv.AppendQuote(nil, strconv.FormatUint(p.last, 10))
	p.results[string(short)] = result
	return short
}

// Take returns the result of a short text, and any other result unchanged.
func (p *Parked) Take(result json.RawMessage) json.RawMessage {
	if len(result) == 0 || result[0] != '"' {
		return result
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	long, ok := p.results[string(result)]
	if !ok {
		return result
	}
	delete(p.results, string(result))
	return long
}

// EncodedOnce makes the results of tools encode themselves.
func EncodedOnce(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		res, err := next(ctx, method, req)
		if call, ok := res.(*mcp.CallToolResult); ok && call != nil && err == nil && plainContent(call) {
			at, _ := ctx.Value(parkedKey{}).(*Parked)
			return callResult{call, at}, nil
		}
		return res, err
	}
}

// plainContent reports whether callResult can encode the content of r.
func plainContent(r *mcp.CallToolResult) bool {
	for _, c := range r.Content {
		if text, ok := c.(*mcp.TextContent); !ok || text.Meta != nil || text.Annotations != nil {
			return false
		}
	}
	_, encoded := r.StructuredContent.(json.RawMessage)
	return encoded || r.StructuredContent == nil
}

// MarshalJSON returns the library's encoding, or a short text for it if it is parked.
func (r callResult) MarshalJSON() ([]byte, error) {
	data, err := r.encode()
	// A message is one line. The library removes line breaks, which only JSON from elsewhere has.
	if err == nil && r.parked != nil && !bytes.ContainsRune(data, '\n') {
		data = r.parked.put(data)
	}
	return data, err
}

// encode returns the library's encoding. The library itself encodes everything except the two
// halves, because it adds hidden members.
func (r callResult) encode() ([]byte, error) {
	bare := *r.CallToolResult
	bare.Content, bare.StructuredContent = []mcp.Content{}, nil
	data, err := bare.MarshalJSON()
	if err != nil {
		return nil, err
	}
	// The brackets of a member's value cannot be a part of a string, whose quotes are escaped.
	const member = `"content":[]`
	before, after, ok := bytes.Cut(data, []byte(member))
	if !ok {
		return r.CallToolResult.MarshalJSON()
	}
	structured, _ := r.StructuredContent.(json.RawMessage)
	size := len(data) + len(structured) + len(`,"structuredContent":`)
	for _, c := range r.Content {
		if text, ok := c.(*mcp.TextContent); ok {
			// JSON in a string has an escape before each quote.
			size += len(text.Text) + len(text.Text)/4 + len(`{"type":"text","text":""},`)
		}
	}
	var b bytes.Buffer
	b.Grow(size)
	b.Write(before)
	b.WriteString(`"content":[`)
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	for i, c := range r.Content {
		if i > 0 {
			b.WriteByte(',')
		}
		text, ok := c.(*mcp.TextContent)
		if !ok {
			return r.CallToolResult.MarshalJSON()
		}
		b.WriteString(`{"type":"text","text":`)
		if err := enc.Encode(text.Text); err != nil {
			return nil, err
		}
		b.Truncate(b.Len() - len("\n"))
		b.WriteByte('}')
	}
	b.WriteByte(']')
	if structured != nil {
		b.WriteString(`,"structuredContent":`)
		b.Write(structured)
	}
	b.Write(after)
	return b.Bytes(), nil
}

// toolList is a list of tools that are JSON already.
type toolList struct {
	*mcp.ListToolsResult
	tools  json.RawMessage
	parked *Parked // nil if the library writes the result
}

// NewToolList returns the library's result with other tools: a JSON array without line breaks.
func NewToolList(ctx context.Context, res *mcp.ListToolsResult, tools json.RawMessage) mcp.Result {
	at, _ := ctx.Value(parkedKey{}).(*Parked)
	return toolList{res, tools, at}
}

// MarshalJSON returns the list, or a short text for it if it is parked.
func (l toolList) MarshalJSON() ([]byte, error) {
	data, err := json.Marshal(struct {
		*mcp.ListToolsResult
		Tools [0]int `json:"tools"` // instead of the library's, and after its other members
	}{ListToolsResult: l.ListToolsResult})
	before, found := bytes.CutSuffix(data, []byte("[]}"))
	if err != nil || !found {
		return nil, errors.Join(err, errors.New("the list of tools has no place"))
	}
	data = append(append(slices.Grow(before, len(l.tools)+len("}")), l.tools...), '}')
	if l.parked != nil {
		data = l.parked.put(data)
	}
	return data, nil
}

// Encode returns the line of a message. A result is already JSON, so the line is assembled here:
// the library would scan all of it again.
func Encode(msg jsonrpc.Message) ([]byte, error) {
	resp, ok := msg.(*jsonrpc.Response)
	if !ok || resp.Error != nil || len(resp.Result) == 0 || !resp.ID.IsValid() {
		return jsonrpc.EncodeMessage(msg)
	}
	id, err := toolset.Marshal(resp.ID.Raw())
	if err != nil {
		return nil, err
	}
	const begin, middle, end = `{"jsonrpc":"2.0","id":`, `,"result":`, `}`
	line := make([]byte, 0, len(begin)+len(id)+len(middle)+len(resp.Result)+len(end)+len("\n"))
	line = append(append(append(line, begin...), id...), middle...)
	return append(append(line, resp.Result...), end...), nil
}
