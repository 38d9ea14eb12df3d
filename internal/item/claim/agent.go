package claim

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/foreign"
	"github.com/copse-dev/copse/internal/xec/family"
)

// Agent is a worker on items: the client of a server, or a person at the command line. The zero
// Agent is unknown: it changes items, and claims none.
type Agent struct {
	// Name is the MCP client's own name, or the name of the user.
	Name string `json:"name,omitempty"`
	// Session distinguishes the clients of one server; "" if the server has one client.
	Session string `json:"session,omitempty"`
	// Worktree is the root of the worktree that the agent works in.
	Worktree string `json:"worktree,omitempty"`
	Host     string `json:"host,omitempty"`
	// Process is the process that lives as long as the agent; zero for a single command.
	Process family.Process `json:"process,omitzero"`
}

type agentKey struct{}

// maxName is the size in bytes of the longest stored name. A client chooses its name, which is in
// each of its claims and in each line of a history.
const maxName = 200

// WithAgent returns a context for the calls of an agent to a store. It keeps the beginning of a long
// name.
func WithAgent(ctx context.Context, a Agent) context.Context {
	a.Name = cleantext.Head(a.Name, maxName)
	return context.WithValue(ctx, agentKey{}, a)
}

// AgentOf returns the agent of a context; the zero Agent if it has none.
func AgentOf(ctx context.Context) Agent {
	a, _ := ctx.Value(agentKey{}).(Agent)
	return a
}

// maxAgentText is the number of displayed characters of each part of an agent in an error.
const maxAgentText = 100

// Short returns the agent on one line, for lists: its name and its directory.
func (a Agent) Short() string {
	shown := func(s string) string { return cleantext.Cut(cleantext.Line(s), maxAgentText) }
	name := shown(cmp.Or(a.Name, "unknown"))
	if a.Worktree == "" {
		return name
	}
	return name + " in " + shown(path.Base(strings.ReplaceAll(a.Worktree, `\\`, "/")))
}

// String returns the agent on one line. The parts are foreign text: a client chooses its name, and
// other machines send theirs.
func (a Agent) String() string {
	shown := func(s string) string { return foreign.Mention(cleantext.Cut(s, maxAgentText)) }
	text := strconv.Quote(cleantext.Cut(cmp.Or(a.Name, "unknown"), maxAgentText))
	if a.Worktree != "" {
		text += " in " + shown(a.Worktree)
	}
	switch {
	case a.Process.PID != 0 && a.Host != "":
		text += fmt.Sprintf(" (process %d on %s)", a.Process.PID, shown(a.Host))
	case a.Process.PID != 0:
		text += fmt.Sprintf(" (process %d)", a.Process.PID)
	case a.Host != "":
		text += fmt.Sprintf(" (on %s)", shown(a.Host))
	}
	return text
}

// Is reports whether both are the same agent. A client stays the same when it moves to another
// worktree.
func (a Agent) Is(other Agent) bool {
	if a.Process.PID != 0 {
		other.Worktree = a.Worktree
	}
	return a == other
}

// Continues reports whether the agent may continue another one's work: it is the same agent, or the
// same client in the same worktree, restarted after its process ended. It then becomes the holder of
// what the other one holds.
func (a Agent) Continues(old Agent) bool {
	if a.Is(old) {
		return true
	}
	restarted := old
	restarted.Process, restarted.Session = a.Process, a.Session
	return a == restarted && a.Process != old.Process && old.Process.Gone()
}

// Shares reports whether the agent may use what another one holds: it continues its work, or the
// other one is a person at the command line, whose claims are for the worktree and everyone in it.
func (a Agent) Shares(old Agent) bool {
	return a.Continues(old) || old.Process.PID == 0 && old.Name != "" && old.Worktree != "" && a.Worktree == old.Worktree && a.Host == old.Host
}
