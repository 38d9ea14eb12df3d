package projectcontext

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/docker"
	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/storage"
	"github.com/copse-dev/copse/internal/recipe"
	"github.com/copse-dev/copse/internal/recipe/running"
)

// WorkItems are the items that are not done.
type WorkItems struct {
	// InProgress are begun and not done.
	InProgress []*item.Summary
	// Claimed are not begun, and somebody holds them.
	Claimed []*item.Summary
	// ThisBranch are linked to the branch that is checked out, whatever their status.
	ThisBranch []*item.Summary
	// Open counts the items that are not begun.
	Open int
	// Ready are the items on which work can begin, in the order in which a claim takes them. Some can be
	// in progress without an assignee.
	Ready []*item.Summary
	// Warnings are about the store as a whole, such as that its items were moved.
	Warnings []item.Warning
	// All finds any item, done ones too.
	All *item.Snapshot
}

func (g *gathering) items(ctx context.Context) (Content, error) {
	config, err := g.Items.Config(ctx)
	if errors.Is(err, storage.ErrNoProject) {
		return nil, emptyError("no .tic directory")
	}
	if err != nil {
		return nil, err
	}
	all, err := g.Items.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	out := WorkItems{All: all, Warnings: config.Warnings}
	for _, it := range all.List(config, item.Filter{All: true}) {
		switch {
		case config.Done(it.Status):
		case config.InProgress(it.Status):
			out.InProgress = append(out.InProgress, it)
		default:
			out.Open++
			if _, held := all.Claim(it.ID); held {
				out.Claimed = append(out.Claimed, it)
			}
		}
	}
	if branch := g.Session.View().Current(ctx); branch != "" {
		links, err := g.Items.Links(ctx)
		if err != nil {
			return nil, err
		}
		for _, id := range slices.Sorted(maps.Keys(links)) {
			if it, err := all.Find(id); err == nil && links[id].Branch == branch {
				out.ThisBranch = append(out.ThisBranch, it)
			}
		}
	}
	if len(out.InProgress)+len(out.ThisBranch)+out.Open+len(out.Warnings) == 0 {
		return nil, emptyError("none open")
	}
	out.Ready = all.Claimable(config)
	return out, nil
}

// LastTask is how the last run of a task ended, if one did, and which tasks run.
type LastTask struct {
	recipe.LastRun
	// Running are tasks of the project, the oldest first.
	Running []running.Task
}

func (g *gathering) task(context.Context) (Content, error) {
	last, ok := g.Journal.Last()
	runs := slices.DeleteFunc(g.Journal.Running(), func(t running.Task) bool { return t.Root != g.Root })
	if !ok && len(runs) == 0 {
		return nil, emptyError("none was run")
	}
	return LastTask{LastRun: last, Running: runs}, nil
}

// Containers are the containers that failed or are unhealthy.
type Containers struct {
	Failing []FailingContainer
	// Omitted counts the failing containers that are left out.
	Omitted int
}

// FailingContainer is a container with the end of its log.
type FailingContainer struct {
	docker.Container
	Log string
	// LogErr is why the log could not be read.
	LogErr error
}

const (
	// maxFailing is how many containers are listed, and logLines how many lines of each
	// log.
	maxFailing = 5
	logLines   = 4
	// recently is how long ago a container of another project may have ended and still
	// be listed.
	recently = 24 * time.Hour
)

func (g *gathering) containers(ctx context.Context) (Content, error) {
	list, err := g.Containers.Containers(ctx, g.Root)
	if errors.Is(err, docker.ErrNoEngine) {
		return nil, emptyError("no container engine")
	}
	if err != nil {
		return nil, err
	}
	var out Containers
	ours := 0
	for _, c := range list {
		if c.Ours {
			ours++
		}
		switch {
		case c.Problem() == "" || !c.Ours && !c.Ended.IsZero() && g.Now().Sub(c.Ended) > recently:
		case len(out.Failing) == maxFailing:
			out.Omitted++
		default:
			log, err := g.Containers.Logs(ctx, c.ID, logLines)
			out.Failing = append(out.Failing, FailingContainer{Container: c, Log: log, LogErr: err})
		}
	}
	if len(out.Failing) == 0 {
		return nil, emptyError(fmt.Sprintf("no problems in %s, %d of this project", cleantext.Count(len(list), "container"), ours))
	}
	return out, nil
}

// Recipes are the tasks of the justfile.
type Recipes []recipe.Recipe

func (g *gathering) recipes(ctx context.Context) (Content, error) {
	list, err := g.Recipes.Recipes(ctx)
	if _, missing := errors.AsType[recipe.MissingError](err); missing {
		return nil, emptyError("no justfile")
	}
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, emptyError("the justfile has none")
	}
	return Recipes(list), nil
}
