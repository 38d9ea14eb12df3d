// Package host describes how clients change a result before their model sees it, and fits results to
// that.
package host

import (
	"bytes"
	"context"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/copse-dev/copse/internal/toolset"
)

// Host describes how a client changes a result before its model sees it. The data was found by
// running the clients; a test runs them again.
type Host struct {
	// room is how much of an answer the model gets in full. It reserves space for the text that the
	// client puts around an answer, and for the notice that it continues.
	room toolset.Room
	// both means that the model gets both halves, and joined that the client puts nothing between
	// blocks.
	both, joined bool
}

// Of returns the known data of a client, by its own name.
func Of(client string) Host {
	if strings.HasPrefix(client, "qwen-cli-mcp-client") { // the name of the server follows
		// 25,000 characters or 1,000 lines, then all but the beginning is in a file
		return Host{room: toolset.Room{Bytes: 23_500, Lines: 950}, both: true}
	}
	switch client {
	case "codex-mcp-client": // 12,000 characters, then the middle is cut out
		return Host{room: toolset.Room{Bytes: 11_000}}
	case "copilot-cli": // 20,480 bytes, then the rest is in a file
		return Host{room: toolset.Room{Bytes: 19_000}, both: true, joined: true}
	case "qwen-code-mcp-client": // an older one: 25,000 characters, then the middle is in a file
		return Host{room: toolset.Room{Bytes: 23_500}}
	case "gemini-cli-mcp-client": // 40,000 characters, then the middle is in a file
		return Host{room: toolset.Room{Bytes: 38_000}}
	case "claude-code": // 50,000 characters, then all but the beginning is in a file
		return Host{room: toolset.Room{Bytes: 48_000}}
	case "opencode": // 51,200 bytes or 2,000 lines, then the rest is in a file
		return Host{room: toolset.Room{Bytes: 49_000, Lines: 1_900}}
	}
	return Host{}
}

// Known passes the handler the caller, and how much of an answer the caller accepts.
func Known(ctx context.Context, info *mcp.Implementation) (context.Context, Host) {
	if info == nil {
		return ctx, Host{}
	}
	h := Of(info.Name)
	if h.room.Bytes > 0 {
		ctx = toolset.WithRoom(ctx, h.room)
	}
	return toolset.WithClient(ctx, info.Name), h
}

// beside returns the text for a model that also gets the structured half: the facts that are not in
// that half.
func beside(r toolset.Result) []string {
	var rest []string
	for _, text := range r.Text {
		if strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[") { // the half itself, or its rows
			return []string{string(r.Structured)}
		}
		if data, err := toolset.Marshal(text); err != nil || !bytes.Contains(r.Structured, data[1:len(data)-1]) {
			rest = append(rest, text)
		}
	}
	if len(rest) == 0 {
		return []string{string(r.Structured)}
	}
	return rest
}

// Fitted returns a result in the best form for the client's model. Both halves of a result carry
// the same facts. A client that passes on both shows them once if they are the same text.
func (h Host) Fitted(r toolset.Result) toolset.Result {
	if h.both && r.Structured != nil {
		r.Text = beside(r)
	}
	if h.joined && len(r.Text) > 1 {
		blocks := make([]string, len(r.Text))
		for i, text := range r.Text {
			if blocks[i] = text; i < len(r.Text)-1 && !strings.HasSuffix(text, "\n") {
				blocks[i] += "\n"
			}
		}
		r.Text = blocks
	}
	return r
}
