package wire

import (
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// InvalidParams returns the error for parameters that the server refuses.
func InvalidParams(format string, args ...any) error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf(format, args...)}
}

// ModernEra is the first revision without sessions.
const ModernEra = "2026-07-28"
