package route

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/failure"
	"github.com/copse-dev/copse/internal/mcpserver/wire"
)

// The revision 2026-07-28 deprecates roots. The clients that support them still do, and they are
// Claude Code's only information about its session.

// rootsTime is how long a client may take to report its roots.
const rootsTime = 5 * time.Second

// AskRoots asks a client of 2026-07-28 for its roots; it sends the call again with them.
func AskRoots() mcp.InputRequestMap { return mcp.InputRequestMap{rootsKey: &mcp.ListRootsParams{}} }

// roots returns the roots of a client, none if it has none. An error means that they are unknown: the
// call must not go to a worktree other than that of the session.
func (p *Locator) roots(ctx context.Context, c Caller) (at reported, ask bool, err error) {
	if c.Caps == nil || c.Caps.RootsV2 == nil {
		return reported{}, false, nil
	}
	if answer, ok := c.Responses[rootsKey]; ok {
		list, ok := answer.(*mcp.ListRootsResult)
		if !ok {
			return reported{}, false, nil
		}
		return rootDirs(list), false, nil
	}
	if params := c.Session.InitializeParams(); params == nil || params.ProtocolVersion >= wire.ModernEra {
		return reported{}, true, nil
	}
	if _, ok := p.mute.Load(c.Session); ok {
		return reported{}, false, nil
	}
	limited, cancel := context.WithTimeout(ctx, rootsTime)
	defer cancel()
	list, err := c.Session.ListRoots(limited, nil)
	switch own, ok := errors.AsType[*jsonrpc.Error](err); {
	case err == nil:
		return rootDirs(list), false, nil
	case ok && own.Code == jsonrpc.CodeMethodNotFound:
		// It declares roots and has none, so it is not asked again.
		if _, known := p.mute.LoadOrStore(c.Session, true); !known {
			go func() {
				_ = c.Session.Wait() // the way it ended does not matter here
				p.mute.Delete(c.Session)
			}()
		}
		return reported{}, false, nil
	}
	reason := cleantext.Line(err.Error())
	switch {
	case ctx.Err() != nil:
		reason = "the call was canceled"
	case limited.Err() != nil:
		reason = fmt.Sprintf("no answer within %v", rootsTime)
	}
	return reported{}, false, &failure.Error{
		Kind: failure.Unreachable, Err: err,
		What: failure.Text("The client did not report the directories of its session (roots/list): " + reason),
		Do:   failure.Text("Try again. To serve one repository without asking the client, start the server with --repo PATH."),
	}
}

// rootDirs returns the directories of a list of roots.
func rootDirs(list *mcp.ListRootsResult) (at reported) {
	for _, r := range list.Roots {
		if r != nil {
			at.add(r.URI)
		}
	}
	return at
}
