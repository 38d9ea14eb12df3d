package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// callResult is a result of text and JSON that encodes itself in one pass. The library scans the
// structured half three times and the text twice, which takes longer than most tools do.
type callResult struct{ *mcp.CallToolResult }

// encodedOnce makes the results of tools encode themselves.
func encodedOnce(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		res, err := next(ctx, method, req)
		if call, ok := res.(*mcp.CallToolResult); ok && call != nil && err == nil && plainContent(call) {
			return callResult{call}, nil
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

// MarshalJSON returns the library's encoding. The library itself encodes everything except the two
// halves, because it adds hidden members.
func (r callResult) MarshalJSON() ([]byte, error) {
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
