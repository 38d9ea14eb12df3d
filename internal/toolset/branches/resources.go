package branches

import (
	"context"
	"path/filepath"
	"slices"
	"sync"

	"github.com/copse-dev/copse/internal/branch/twig"
	"github.com/copse-dev/copse/internal/fact"
	gh "github.com/copse-dev/copse/internal/github"
	"github.com/copse-dev/copse/internal/jira"
	"github.com/copse-dev/copse/internal/toolset"
	"github.com/copse-dev/copse/internal/toolset/envelope"
	"github.com/copse-dev/copse/internal/watch"
)

const jsonType = "application/json"

// Resources have the same JSON as the tools, errors included: a model that reads
// one sees why there is nothing.
func (t *Tools) resources() []toolset.Resource {
	return []toolset.Resource{
		{
			URI: "twig://repo/branches", Name: "branches", Title: "Tracked branches", MIMEType: jsonType,
			Description: "All tracked branches with metadata",
			Read: func(ctx context.Context) (string, error) {
				return document(t.ListBranches(ctx, ListIn{}))
			},
		},
		{
			URI: "twig://repo/tree", Name: "tree", Title: "Branch tree", MIMEType: jsonType,
			Description: "Branch dependency tree for the current repository",
			Read: func(ctx context.Context) (string, error) {
				return document(t.GetBranchTree(ctx, TreeIn{}))
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
			return document(t.BranchContext(ctx, values["name"]))
		},
	}}
}

// document is the outcome of a handler as the text of a resource.
func document[T any](out T, err error) (string, error) {
	if err != nil {
		return string(envelope.Document(err)), nil
	}
	res, err := envelope.Shape[T]{}.OK(out)
	if err != nil {
		return "", err
	}
	return res.Text[0], nil
}

// Context joins a branch with what is linked to it.
type Context struct {
	twig.Metadata
	Current     bool                  `json:"current,omitempty"`
	Missing     bool                  `json:"missing,omitempty"`
	Jira        fact.Fact[jira.Issue] `json:"jira"`
	PullRequest fact.Fact[gh.Status]  `json:"pull_request"`
}

// BranchContext asks the services, at the same time, what is linked to a branch.
// What cannot be learned is said where it is missing.
func (t *Tools) BranchContext(ctx context.Context, name string) (Context, error) {
	stack, err := t.Stack(ctx, name)
	if err != nil {
		return Context{}, err
	}
	out := Context{Metadata: stack[0].Metadata, Missing: stack[0].Missing, Current: name == t.Current(ctx)}
	var asking sync.WaitGroup
	asking.Go(func() { out.Jira = linked(ctx, out.JiraIssue, t.opts.Issue, "jira") })
	asking.Go(func() { out.PullRequest = linked(ctx, out.PRNumber, t.opts.PullRequest, "github") })
	asking.Wait()
	return out, nil
}

// linked asks for what key names, unless there is none or nobody to ask.
func linked[K comparable, V any](ctx context.Context, key K, ask func(context.Context, K) fact.Fact[V], name string) fact.Fact[V] {
	var none K
	switch {
	case key == none:
		return fact.Fact[V]{State: fact.StateNone, Source: twig.Name}
	case ask == nil:
		return fact.Unavailable[V]("the "+name+" toolset is switched off", "")
	}
	return ask(ctx, key)
}

// watchTree calls changed when the tree of the repository is another one.
func (t *Tools) watchTree(ctx context.Context, changed func()) error {
	repo, err := t.place.Repo(ctx)
	if err != nil {
		return err
	}
	var paths watch.Paths
	for _, root := range slices.Compact([]string{repo.Root(), repo.MainRoot()}) {
		if root != "" {
			// The root, too: .twig may not be there yet.
			paths.Dirs = append(paths.Dirs, root, filepath.Dir(twig.Path(root)))
		}
	}
	for _, w := range repo.Watches() {
		if w.Recursive {
			paths.Trees = append(paths.Trees, w.Path)
		} else {
			paths.Dirs = append(paths.Dirs, w.Path)
		}
	}
	var last string
	read := func() string {
		text, err := document(t.GetBranchTree(ctx, TreeIn{}))
		if err != nil {
			return err.Error()
		}
		return text
	}
	return watch.Run(ctx, paths, func() { last = read() }, func() {
		// Git touches these folders for many reasons; only another tree counts.
		if now := read(); now != last {
			last = now
			changed()
		}
	})
}
