package mcpserver

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/copse-dev/copse/internal/mcpserver/tasks"
)

// Library returns the library's server, to which a test adds what no toolset has.
func (s *Server) Library() *mcp.Server { return s.mcp }

// Task is a task on the wire.
type Task = tasks.Task

// TaskSource has tasks.
type TaskSource = tasks.Source

// ServeTasks makes the server serve the tasks of a source.
func (s *Server) ServeTasks(source TaskSource) { s.tasks.Source = source }

// BeginTask makes the call of ctx a task, and reports whether its client takes one.
func BeginTask(ctx context.Context, t func() *Task) bool {
	b := tasks.PlaceOf(ctx)
	if b != nil {
		b.Task = t()
	}
	return b != nil
}

// ErrNoTasks is the answer to a client without the extension.
var ErrNoTasks = tasks.ErrUndeclared
