package wire

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// WellFormed repairs errors whose data is not JSON. The library quotes the URI of an unknown
// resource in Go's form, which is not JSON if it contains a control character. An answer that
// cannot be encoded would end the connection, and with it the server.
func WellFormed(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		result, err := next(ctx, method, req)
		if e, ok := errors.AsType[*jsonrpc.Error](err); ok && len(e.Data) > 0 && !json.Valid(e.Data) {
			mended := *e
			mended.Data = nil
			if read, ok := req.GetParams().(*mcp.ReadResourceParams); ok && read != nil {
				// A string is always JSON.
				mended.Data, _ = json.Marshal(map[string]string{"uri": read.URI})
			}
			err = &mended
		}
		return result, err
	}
}
