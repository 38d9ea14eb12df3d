package subscription

import (
	"context"
	"crypto/sha256"
	"encoding/hex"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/copse-dev/copse/internal/httpsession"
	"github.com/copse-dev/copse/internal/toolset"
)

type clientKey struct{}

// WithClient adds the session of an HTTP client to the context of its requests. The library passes
// the context of the request that began a session to all calls of it.
func WithClient(ctx context.Context, s *httpsession.Session) context.Context {
	return context.WithValue(ctx, clientKey{}, s)
}

// clientOf returns the session of the HTTP client of a call, nil on stdio.
func clientOf(ctx context.Context) *httpsession.Session {
	s, _ := ctx.Value(clientKey{}).(*httpsession.Session)
	return s
}

// WithSession passes the handler the calling client. The ID of a session grants access to it, so
// others get a part of its hash.
func WithSession(ctx context.Context, session *mcp.ServerSession) context.Context {
	if clientOf(ctx) == nil || session == nil || session.ID() == "" {
		return ctx
	}
	sum := sha256.Sum256([]byte(session.ID()))
	return toolset.WithSession(ctx, hex.EncodeToString(sum[:6]))
}

// Sessions runs every request of an HTTP client under its session, so that the request
// ends with it.
func Sessions(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		client := clientOf(ctx)
		if client == nil {
			return next(ctx, method, req)
		}
		if session, ok := req.GetSession().(*mcp.ServerSession); ok && method == "initialize" {
			join(client, session)
		}
		ctx, done := client.Run(ctx)
		defer done()
		return next(ctx, method, req)
	}
}

// join makes the library's session, to which the client can return, and ours end together.
func join(client *httpsession.Session, session *mcp.ServerSession) {
	if !client.Name(session.ID()) {
		return
	}
	context.AfterFunc(client.Context(), func() { _ = session.Close() }) // its client has disconnected
	go func() {
		_ = session.Wait() // the way it ended does not matter here
		client.End()
	}()
}

// Connected reports the client that begins a session.
func Connected(tell func(client string)) mcp.Middleware {
	return func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			if p, ok := req.GetParams().(*mcp.InitializeParams); ok && p != nil && p.ClientInfo != nil {
				tell(p.ClientInfo.Name)
			}
			return next(ctx, method, req)
		}
	}
}
