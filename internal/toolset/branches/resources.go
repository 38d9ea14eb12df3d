package branches

import (
	"context"

	"github.com/copse-dev/copse/internal/toolset"
	"github.com/copse-dev/copse/internal/toolset/envelope"
	"github.com/copse-dev/copse/internal/workflow/stack"
)

const jsonType = "application/json"

// Resources have the same JSON as the tools, including errors: a model that reads one sees why
// there is no content.
func (t *Tools) resources() []toolset.Resource {
	return []toolset.Resource{
		{
			URI: "twig://repo/branches", Name: "branches", Title: "Tracked branches", MIMEType: jsonType,
			Description: "All tracked branches with metadata",
			Read: func(ctx context.Context) (string, error) {
				return read(ctx, t, t.ListBranches, ListIn{})
			},
		},
		{
			URI: "twig://repo/tree", Name: "tree", Title: "Branch tree", MIMEType: jsonType,
			Description: "Branch dependency tree for the current repository",
			Read: func(ctx context.Context) (string, error) {
				return read(ctx, t, t.GetBranchTree, TreeIn{})
			},
			Watch: t.watchTree,
		},
	}
}

func (t *Tools) templates() []toolset.Template {
	return []toolset.Template{{
		URITemplate: "twig://branch/{name}/context", Name: "branch-context", Title: "Branch context", MIMEType: jsonType,
		Description: "Combined view: branch metadata + Jira issue + PR status",
		Variables: []toolset.Argument{{
			Name:        "name",
			Description: "Branch name, percent-encoded, slashes too.",
			Complete:    t.completeBranch,
		}},
		Read: func(ctx context.Context, values map[string]string) (string, error) {
			return read(ctx, t, t.context, values["name"])
		},
	}}
}

// read calls a handler for a resource.
func read[In, Out any](ctx context.Context, t *Tools, run func(context.Context, In) (Out, error), in In) (string, error) {
	out, err := run(ctx, in)
	return envelope.Document(t.opts.Form, out, err)
}

// context joins a branch with the things linked to it.
func (t *Tools) context(ctx context.Context, name string) (stack.Context, error) {
	return t.branches.Context(ctx, name, t.opts.Services)
}

// watchTree calls changed when the tree of the repository changes.
func (t *Tools) watchTree(ctx context.Context, changed func()) error {
	return t.branches.Watch(ctx, func() string {
		text, err := read(ctx, t, t.GetBranchTree, TreeIn{})
		if err != nil {
			return err.Error()
		}
		return text
	}, changed)
}
