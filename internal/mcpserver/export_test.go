package mcpserver

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Library returns the library's server, to which a test adds what no toolset has.
func (s *Server) Library() *mcp.Server { return s.mcp }

// Task is a task on the wire.
type Task = task

// TaskSource has tasks.
type TaskSource = taskSource

// ServeTasks makes the server serve the tasks of a source.
func (s *Server) ServeTasks(source TaskSource) { s.tasks.source = source }

// BeginTask makes the call of ctx a task, and reports whether its client takes one.
func BeginTask(ctx context.Context, t func() *Task) bool {
	b := beginningOf(ctx)
	if b != nil {
		b.task = t()
	}
	return b != nil
}

// ErrNoTasks is the answer to a client without the extension.
var ErrNoTasks = errNoTasks
