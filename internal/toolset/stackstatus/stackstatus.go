// Package stackstatus adds the verdict on a stack to the toolset "branches": a tool, a resource,
// and the facts of the prompt stack-status. The read-only program serves the toolset without it.
package stackstatus

import (
	"context"
	"strings"

	"github.com/copse-dev/copse/internal/foreign"
	"github.com/copse-dev/copse/internal/toolset"
	"github.com/copse-dev/copse/internal/toolset/envelope"
	"github.com/copse-dev/copse/internal/workflow/verdict"
	"github.com/copse-dev/copse/internal/workflow/verdict/gather"
)

const (
	uri    = "copse://repo/stack"
	prompt = "stack-status"
)

// Tools contains the handlers.
type Tools struct {
	form     envelope.Form
	verdicts *gather.Verdicts
	draw     func(verdict.Status) (string, error)
}

// New returns the handlers. draw renders a status as HTML for clients that show views; nil renders
// none.
func New(form envelope.Form, verdicts *gather.Verdicts, draw func(verdict.Status) (string, error)) *Tools {
	return &Tools{form, verdicts, draw}
}

// Extend returns the toolset with the verdict.
func (t *Tools) Extend(set toolset.Toolset) toolset.Toolset {
	set.Tools = append(set.Tools, envelope.Tool(t.form, toolset.Spec{
		Name: "get_stack_status", Hints: toolset.Hints{ReadOnly: true, OpenWorld: true},
		Description: "What blocks my stack, from the bottom? Per branch: PR, reviews, checks, restack, unpushed, worktree, work item; then the first blocker and the next step.",
	}, toolset.Drawn(t.GetStackStatus, t.draw)))
	set.Resources = append(set.Resources, toolset.Resource{
		URI: uri, Name: "stack", Title: "Stack status", MIMEType: "application/json",
		Description: "The current stack with its first blocker, from GitHub's last answers",
		Read: func(ctx context.Context) (string, error) {
			out, err := t.GetStackStatus(ctx, In{Cached: true})
			return envelope.Document(t.form, out, err)
		},
		Watch: func(ctx context.Context, changed func()) error {
			return t.verdicts.Watch(ctx, "", func(verdict.Status) { changed() })
		},
	})
	for i, p := range set.Prompts {
		if p.Name != prompt {
			continue
		}
		branches := p.Get
		set.Prompts[i].Get = func(ctx context.Context, args map[string]string) (string, error) {
			text, err := branches(ctx, args)
			if err != nil {
				return "", err
			}
			found, unknown := t.verdicts.Stack(ctx, "", gather.Recent)
			if unknown != nil || len(found.Branches) == 0 {
				return text, nil //nolint:nilerr // the list of branches reports the problem
			}
			return foreign.Markdown(found.Fit().Lines()) + "\n" + text, nil
		}
	}
	return set
}

// In selects a stack.
type In struct {
	Branch string `json:"branch,omitempty" description:"Default: the current one."`
	Fresh  bool   `json:"fresh,omitempty" description:"Ask GitHub again."`
	Cached bool   `json:"cached,omitempty" description:"Use no network."`
}

// GetStackStatus combines the branches of a stack with everything that decides about their merge.
func (t *Tools) GetStackStatus(ctx context.Context, in In) (verdict.Status, error) {
	asking := gather.Recent
	switch {
	case in.Fresh && in.Cached:
		return verdict.Status{}, &toolset.ArgumentError{Name: "cached", Message: `Arguments "fresh" and "cached" cannot be used together`, Hint: "Pass one of them, or neither."}
	case in.Fresh:
		asking = gather.Fresh
	case in.Cached:
		asking = gather.Cached
	}
	found, err := t.verdicts.Stack(ctx, in.Branch, asking)
	if err != nil {
		return verdict.Status{}, err
	}
	found = found.Fit()
	names := []string{found.Trunk}
	for _, b := range found.Branches {
		names = append(names, b.Branch, b.Parent)
	}
	if hidden := foreign.HiddenIn(strings.Join(names, "\n")); hidden != "" {
		found.Notes = append(found.Notes, "The names of branches have invisible characters: "+hidden+". Pass them to other tools unchanged.")
	}
	return found, nil
}
