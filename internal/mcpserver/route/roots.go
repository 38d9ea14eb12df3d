package route

import (
	"context"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/copse-dev/copse/internal/mcpserver/wire"
)

// The revision 2026-07-28 deprecates roots. The clients that support them still do, and they are
// Claude Code's only information about its session.

// rootsTime is how long a client may take to report its roots.
const rootsTime = time.Second

// AskRoots asks a client of 2026-07-28 for its roots; it sends the call again with them.
func AskRoots() mcp.InputRequestMap { return mcp.InputRequestMap{rootsKey: &mcp.ListRootsParams{}} }

// roots returns the roots of a client.
func (p *Locator) roots(ctx context.Context, c Caller) (dirs []string, ask bool) {
	if c.Caps == nil || c.Caps.RootsV2 == nil {
		return nil, false
	}
	if answer, ok := c.Responses[rootsKey]; ok {
		list, ok := answer.(*mcp.ListRootsResult)
		if !ok {
			return nil, false
		}
		return rootDirs(list), false
	}
	if params := c.Session.InitializeParams(); params == nil || params.ProtocolVersion >= wire.ModernEra {
		return nil, true
	}
	if _, ok := p.mute.Load(c.Session); ok {
		return nil, false
	}
	ctx, cancel := context.WithTimeout(ctx, rootsTime)
	defer cancel()
	list, err := c.Session.ListRoots(ctx, nil)
	if err != nil {
		// It is not asked again: each call would wait for it.
		if _, known := p.mute.LoadOrStore(c.Session, true); !known {
			go func() {
				_ = c.Session.Wait() // the way it ended does not matter here
				p.mute.Delete(c.Session)
			}()
		}
		return nil, false
	}
	return rootDirs(list), false
}

// rootDirs returns the directories of a list of roots.
func rootDirs(list *mcp.ListRootsResult) []string {
	var dirs []string
	for _, r := range list.Roots {
		if r == nil {
			continue
		}
		if dir, ok := fileURI(r.URI); ok {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}
