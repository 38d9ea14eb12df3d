// Package doctor diagnoses the connection between an MCP client and the sources of copse.
//
// Fill in a [Doctor] and call [Doctor.Examine]. Each check has one [Finding]: whether it passes,
// the observation, and the next step. Remedies name commands of the surface that shows them; see
// [Words].
package doctor

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/copse-dev/copse/internal/bearer"
	"github.com/copse-dev/copse/internal/clientconfig/clientfile"
	"github.com/copse-dev/copse/internal/command/library"
	"github.com/copse-dev/copse/internal/credential"
	"github.com/copse-dev/copse/internal/docker"
	"github.com/copse-dev/copse/internal/failure"
	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/session"
	"github.com/copse-dev/copse/internal/settings"
	"github.com/copse-dev/copse/internal/supervisor/control"
	"github.com/copse-dev/copse/internal/workflow/issue"
	"github.com/copse-dev/copse/internal/workflow/pull"
	"github.com/copse-dev/copse/internal/workflow/stack"
	"github.com/copse-dev/copse/internal/workflow/tasks"
	"github.com/copse-dev/copse/internal/xec"
)

// Verdict is the result of a check.
type Verdict string

// The verdicts.
const (
	OK     Verdict = "ok"
	None   Verdict = "none" // something optional is not set up
	Failed Verdict = "FAIL"
)

// Finding is the result of a check.
type Finding struct {
	Check   string  `json:"check"`
	Verdict Verdict `json:"verdict"`
	Text    string  `json:"text"`
	// Remedy is the next step, "" if there is none.
	Remedy string `json:"remedy,omitempty"`
}

// Words are the commands that remedies name.
type Words struct {
	Errors failure.Words
	// Install writes the entry of a client.
	Install string
	// InitItems and CheckItems create and check a store of work items.
	InitItems, CheckItems string
	// ShareItems creates the shared store that SyncItems fills.
	ShareItems, SyncItems string
	// InitCommands and IndexCommands create and build a registry of prompts.
	InitCommands, IndexCommands string
}

// ItemStore is a store of work items.
type ItemStore interface {
	Config(context.Context) (item.Config, error)
	Snapshot(context.Context) (*item.Snapshot, error)
	Close() error
}

// Doctor contains the inputs of the checks.
type Doctor struct {
	Words   Words
	Version string
	// Executable is the path of this program.
	Executable string
	Environ    xec.Env
	Getenv     func(string) string
	// Online allows requests to GitHub and Jira.
	Online bool

	Session  *session.Session
	Worktree session.Worktree
	Branches *stack.Branches
	Pulls    *pull.Requests
	Issues   *issue.Issues
	Finder   credential.Finder

	Settings     settings.Files
	SettingsFile string
	Items        func() ItemStore
	// SharedItems returns the remote-tracking ref of a shared store of work items that this clone
	// does not use, "" if there is none.
	SharedItems func(context.Context) string
	Commands    *library.Library
	Tasks       *tasks.Tasks
	Engine      *docker.Client

	// Clients locates the clients' files.
	Clients clientfile.Location
	// Status queries copse up; Ports and Tokens are the locations of its data.
	Status func(context.Context) (control.Status, error)
	Ports  string
	Tokens bearer.Store
}

// limit is the time limit of a check.
const limit = 20 * time.Second

// check is one link of the chain from a client to copse's data.
type check struct {
	name string
	look func(ctx context.Context) Finding
}

// Examine runs all checks at the same time. Their findings are in the order of the chain.
func (d *Doctor) Examine(ctx context.Context) []Finding {
	return examine(ctx, limit, []check{
		{"program", d.program}, {"handshake", d.handshake}, {"clients", d.clients}, {"settings", d.settings}, {"git", d.git}, {"branch state", d.state},
		{"GitHub", d.github}, {"Jira", d.jira}, {"work items", d.items}, {"prompts", d.commands}, {"tasks", d.tasks},
		{"containers", d.containers}, {"copse up", d.up},
	})
}

func examine(ctx context.Context, limit time.Duration, all []check) []Finding {
	found := make([]Finding, len(all))
	var looking sync.WaitGroup
	for i, c := range all {
		looking.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, limit)
			defer cancel()
			found[i] = c.look(ctx)
			found[i].Check = c.name
			if errors.Is(ctx.Err(), context.DeadlineExceeded) {
				found[i] = Finding{c.name, Failed, fmt.Sprintf("no answer within %s", limit), "Run the command again; if the check is slow again, examine that part of the machine."}
			}
		})
	}
	looking.Wait()
	return found
}
