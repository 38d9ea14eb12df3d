package wire

import (
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/copse-dev/copse/internal/toolset"
)

// InvalidParams returns the error for parameters that the server refuses.
func InvalidParams(format string, args ...any) error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf(format, args...)}
}

// ModernEra is the first revision without sessions.
const ModernEra = "2026-07-28"

// Declares reports whether a client has an extension.
func Declares(caps *mcp.ClientCapabilities, extension string) bool {
	if caps == nil {
		return false
	}
	_, ok := caps.Extensions[extension]
	return ok
}

// Registered panics for the error of a registration: the protocol itself has a method with that
// name.
func Registered(err error) {
	if err != nil {
		panic(err)
	}
}

// Result returns a result for the wire; no other place knows the wire format of a result.
func Result(r toolset.Result) *mcp.CallToolResult {
	res := &mcp.CallToolResult{IsError: r.IsError}
	for _, text := range r.Text {
		res.Content = append(res.Content, &mcp.TextContent{Text: text})
	}
	if r.Structured != nil {
		res.StructuredContent = r.Structured
	}
	return res
}
