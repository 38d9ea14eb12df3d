package projectcontext

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/copse-dev/copse/internal/failure"
	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/remote"
)

const (
	// localLimit is the time limit of a section that uses only this machine, and remoteLimit that
	// of one that uses the network.
	localLimit  = time.Second
	remoteLimit = 10 * time.Second
)

// source reads one section.
type source struct {
	name, title string
	limit       time.Duration
	// read returns the content. Its error can be an emptyError.
	read func(context.Context) (Content, error)
}

// emptyError is the reason why a section is empty.
type emptyError string

func (e emptyError) Error() string { return string(e) }

// gathering is one call of Gather. Its sources share common data.
type gathering struct {
	Sources
	request Request

	changes sync.Once
	found   workingTree
	err     error
}

// workingTree is the state of the files in git.
type workingTree struct {
	status  git.Status
	changed []git.Change
}

// Gather reads the sections that r names. The error is that of ctx: Gather returns no partial
// result, because missing sections would look empty.
func (s Sources) Gather(ctx context.Context, r Request) (Context, error) {
	g := &gathering{Sources: s, request: r}
	out := Context{Root: s.Root, At: s.Now(), Sections: []Section{}}
	sources := slices.DeleteFunc(g.sources(r.Fresh), func(s source) bool { return !r.has(s.name) })
	if !r.Fresh {
		ctx = remote.WithCachedOnly(ctx)
	}
	out.Sections = append(out.Sections, make([]Section, len(sources))...)
	var reading sync.WaitGroup
	for i, one := range sources {
		one.limit *= time.Duration(max(s.Patience, 1))
		reading.Go(func() { out.Sections[i] = one.section(ctx, s.Words) })
	}
	reading.Wait()
	return out, context.Cause(ctx)
}

// sources returns all sources in the order of Names.
func (g *gathering) sources(fresh bool) []source {
	linked := localLimit
	if fresh {
		linked = remoteLimit
	}
	return []source{
		{"project", "Project", localLimit, g.project},
		{"stack", "Branch stack", linked, g.stack},
		{"items", "Work items", localLimit, g.items},
		{"git", "Changes", localLimit, g.git},
		{"task", "Last task", localLimit, g.task},
		{"containers", "Container problems", localLimit, g.containers},
		{"recipes", "Tasks", localLimit, g.recipes},
		{"recent", "Recently changed", localLimit, g.recent},
		{"tree", "Files", localLimit, g.tree},
	}
}

// section reads the section within its limit.
func (s source) section(ctx context.Context, words failure.Words) Section {
	ctx, cancel := context.WithTimeout(ctx, s.limit)
	defer cancel()
	type answer struct {
		content Content
		err     error
	}
	// A source does not check its context continuously.
	answers := make(chan answer, 1)
	go func() {
		content, err := s.read(ctx)
		answers <- answer{content, err}
	}()
	var a answer
	select {
	case a = <-answers:
	case <-ctx.Done():
		select {
		case a = <-answers:
		default:
			a.err = ctx.Err()
		}
	}
	out := Section{Name: s.name, Title: s.title, Content: a.content}
	empty, isEmpty := errors.AsType[emptyError](a.err)
	_, isUnnamed := errors.AsType[*git.UnnamedError](a.err)
	failed, isFailure := errors.AsType[*failure.Error](a.err)
	switch {
	case a.err == nil:
	case isEmpty:
		out.Content, out.Empty = nil, string(empty)
	case isUnnamed:
		out.Empty = "a bare repository that --repo does not name"
	case errors.Is(a.err, git.ErrNotRepository):
		out.Empty = "not a git repository"
	case errors.Is(a.err, context.DeadlineExceeded):
		out.Unavailable = fmt.Sprintf("no answer within %s", s.limit)
	case isFailure:
		out.Unavailable = failed.Message(words)
	default:
		out.Unavailable = a.err.Error()
	}
	return out
}

// workingTree asks git once about the files. Later callers wait for the first.
func (g *gathering) workingTree(ctx context.Context) (workingTree, error) {
	g.changes.Do(func() {
		repo, err := g.Session.Repo(ctx)
		if err != nil {
			g.err = err
			return
		}
		g.found.status, g.found.changed, g.err = repo.Changes(ctx)
	})
	return g.found, g.err
}
