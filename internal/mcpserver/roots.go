package mcpserver

import (
	"context"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The revision 2026-07-28 deprecates roots. The clients that support them still do, and they are
// Claude Code's only information about its session.

// rootsTime is how long a client may take to report its roots.
const rootsTime = time.Second

// askRoots asks a client of 2026-07-28 for its roots; it sends the call again with them.
func askRoots() mcp.InputRequestMap { return mcp.InputRequestMap{rootsKey: &mcp.ListRootsParams{}} }

// roots returns the roots of a client.
func (p *locator) roots(ctx context.Context, c caller) (dirs []string, ask bool) {
	if c.caps == nil || c.caps.RootsV2 == nil {
		return nil, false
	}
	if answer, ok := c.responses[rootsKey]; ok {
		list, ok := answer.(*mcp.ListRootsResult)
		if !ok {
			return nil, false
		}
		return rootDirs(list), false
	}
	if params := c.session.InitializeParams(); params == nil || params.ProtocolVersion >= modernEra {
		return nil, true
	}
	if _, ok := p.mute.Load(c.session); ok {
		return nil, false
	}
	ctx, cancel := context.WithTimeout(ctx, rootsTime)
	defer cancel()
	list, err := c.session.ListRoots(ctx, nil)
	if err != nil {
		// It is not asked again: each call would wait for it.
		if _, known := p.mute.LoadOrStore(c.session, true); !known {
			go func() {
				_ = c.session.Wait() // the way it ended does not matter here
				p.mute.Delete(c.session)
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
