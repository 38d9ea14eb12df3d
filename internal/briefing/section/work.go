package section

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/copse-dev/copse/internal/briefing"
	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/docker"
	"github.com/copse-dev/copse/internal/fact"
	"github.com/copse-dev/copse/internal/foreign"
	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/project"
	"github.com/copse-dev/copse/internal/recipe"
)

// ItemStore is where work items are.
type ItemStore interface {
	Config(ctx context.Context) (item.Config, error)
	Snapshot(ctx context.Context) (*item.Snapshot, error)
	// Links returns the links of the items that have one.
	Links(ctx context.Context) (map[item.ID]item.Link, error)
}

// Items tells which work items are neither new nor done, and which are linked with the
// branch that is checked out, empty for none.
func Items(store ItemStore, branch func(context.Context) string) briefing.Source {
	return source("items", "Work items", func(ctx context.Context) (briefing.Body, error) {
		config, err := store.Config(ctx)
		if errors.Is(err, item.ErrNoProject) {
			return briefing.Body{}, &briefing.Nothing{Why: "no .tic folder"}
		}
		if err != nil {
			return briefing.Body{}, err
		}
		all, err := store.Snapshot(ctx)
		if err != nil {
			return briefing.Body{}, err
		}
		here, err := linkedWith(ctx, store, branch(ctx))
		if err != nil {
			return briefing.Body{}, err
		}
		var body briefing.Body
		open, progress := 0, 0
		for _, it := range all.List(config, item.Filter{All: true}) {
			switch {
			case config.Done(it.Status):
				continue
			case it.Status == config.Statuses[0]:
				open++
				continue
			}
			if progress++; !here[it.ID] { // those have lines of their own
				body.Lines = append(body.Lines, itemLine(it))
			}
		}
		if progress == 0 && open == 0 && len(here) == 0 {
			return briefing.Body{}, &briefing.Nothing{Why: "none open"}
		}
		ready := len(all.List(config, item.Filter{All: true, Ready: true, Status: config.Statuses[0]}))
		body.Head = []foreign.Line{
			foreign.Line{}.Int(progress).Own(" in progress, ").Int(open).Own(" not begun, of which ").Int(ready).Own(" are ready"),
		}
		for _, id := range slices.Sorted(maps.Keys(here)) {
			if it, err := all.Find(id); err == nil {
				body.Head = append(body.Head, foreign.Own("this branch: ").Add(itemLine(it)))
			}
		}
		return body, nil
	})
}

func itemLine(it *item.Summary) foreign.Line {
	line := foreign.Own("#").Int(int(it.ID)).Own(" ").Name(it.Title).Own(" [").Name(it.Status).Own("]")
	if it.Assignee != "" {
		line = line.Own(" ").Name(it.Assignee)
	}
	return line
}

// linkedWith returns the items that are linked with a branch.
func linkedWith(ctx context.Context, store ItemStore, branch string) (map[item.ID]bool, error) {
	if branch == "" {
		return nil, nil
	}
	links, err := store.Links(ctx)
	here := map[item.ID]bool{}
	for id, l := range links {
		if l.Branch == branch {
			here[id] = true
		}
	}
	return here, err
}

// Journal remembers the last run of a recipe.
type Journal interface {
	Last() (recipe.LastRun, bool)
}

// Task tells how the last run of a recipe went.
func Task(j Journal, now func() time.Time) briefing.Source {
	return source("task", "Last task", func(context.Context) (briefing.Body, error) {
		last, ok := j.Last()
		if !ok {
			return briefing.Body{}, &briefing.Nothing{Why: "none was run"}
		}
		head := foreign.Name(strings.Join(append([]string{last.Task}, last.Args...), " ")).Own(": ")
		switch {
		case last.Problem != "":
			head = head.Word(last.Problem)
		case last.ExitCode != 0:
			head = head.Own("failed with exit code ").Int(last.ExitCode)
		default:
			head = head.Own("succeeded")
		}
		head = head.Own(" after ").Word(last.Duration.Round(time.Millisecond).String()).
			Own(", ").Word(fact.Age(last.Started.Add(last.Duration), now()))
		body := briefing.Body{KeepEnd: true, Lines: foreign.Quote(last.Tail)}
		if len(body.Lines) > 0 {
			head = head.Own("; it printed:")
		}
		body.Head = []foreign.Line{head}
		return body, nil
	})
}

// Engine runs containers.
type Engine interface {
	Containers(ctx context.Context, root string) ([]docker.Container, error)
	Logs(ctx context.Context, id string, n int) (string, error)
}

const (
	// maxFailing is how many containers are listed, and logLines how many lines
	// each of them printed last.
	maxFailing = 5
	logLines   = 4
	// lately is how long ago a container of another project may have failed to be
	// told of.
	lately = 24 * time.Hour
)

// Containers tells which containers are in trouble.
func Containers(engine Engine, root string, now func() time.Time) briefing.Source {
	return source("containers", "Containers in trouble", func(ctx context.Context) (briefing.Body, error) {
		list, err := engine.Containers(ctx, root)
		if errors.Is(err, docker.ErrNoEngine) {
			return briefing.Body{}, &briefing.Nothing{Why: "no container engine"}
		}
		if err != nil {
			return briefing.Body{}, err
		}
		var body briefing.Body
		ours, failing := 0, 0
		for _, c := range list {
			if c.Ours {
				ours++
			}
			if c.Problem() == "" || !c.Ours && !c.Ended.IsZero() && now().Sub(c.Ended) > lately {
				continue
			}
			if failing++; failing > maxFailing {
				continue
			}
			line := foreign.Name(c.Name).Own(": ").Word(c.Problem())
			if !c.Ended.IsZero() {
				line = line.Own(" ").Word(fact.Age(c.Ended, now()))
			}
			if !c.Ours {
				line = line.Own(" (not of this project)")
			}
			log, err := engine.Logs(ctx, c.ID, logLines)
			if err != nil {
				body.Lines = append(body.Lines, line.Own("; log not known: ").Name(err.Error()))
				continue
			}
			printed := foreign.Quote(log)
			if len(printed) > 0 {
				line = line.Own("; its log:")
			}
			body.Lines = append(append(body.Lines, line), printed...)
		}
		if failing > maxFailing {
			body.Lines = append(body.Lines, foreign.Own("… and ").Int(failing-maxFailing).Own(" more containers"))
		}
		if failing == 0 {
			return body, &briefing.Nothing{Why: fmt.Sprintf("none in trouble of %d, %d of them this project's", len(list), ours)}
		}
		return body, nil
	})
}

// Justfile has recipes.
type Justfile interface {
	Recipes(ctx context.Context) ([]recipe.Recipe, error)
}

// Recipes tells what can be run.
func Recipes(j Justfile) briefing.Source {
	return source("recipes", "Tasks", func(ctx context.Context) (briefing.Body, error) {
		list, err := j.Recipes(ctx)
		if _, missing := errors.AsType[recipe.MissingError](err); missing {
			return briefing.Body{}, &briefing.Nothing{Why: "no justfile"}
		}
		if err != nil {
			return briefing.Body{}, err
		}
		if len(list) == 0 {
			return briefing.Body{}, &briefing.Nothing{Why: "the justfile has none"}
		}
		var body briefing.Body
		for _, r := range list {
			line := foreign.Name(r.Usage())
			if r.Doc != "" {
				line = line.Own("  # ").Name(cleantext.Cut(r.Doc, 80))
			}
			body.Lines = append(body.Lines, line)
		}
		return body, nil
	})
}

// Lister lists folders.
type Lister interface {
	List(ctx context.Context, path string, r project.Range) (project.Listing, error)
}

const (
	// treeDepth is how deep the tree of folders goes, and treeMax how many entries
	// it has before it is cut.
	treeDepth = 2
	treeMax   = 400
)

// Tree tells what files there are.
func Tree(files Lister) briefing.Source {
	return source("tree", "Files", func(ctx context.Context) (briefing.Body, error) {
		listing, err := files.List(ctx, ".", project.Range{Depth: treeDepth, Max: treeMax})
		if err != nil {
			return briefing.Body{}, err
		}
		if len(listing.Entries) == 0 {
			return briefing.Body{}, &briefing.Nothing{Why: "no files"}
		}
		inside := map[string][]string{}
		for _, e := range listing.Entries {
			if dir, _, ok := strings.Cut(e.Path, "/"); ok {
				inside[dir] = append(inside[dir], mark(e))
			}
		}
		var body briefing.Body
		var here []string
		for _, e := range listing.Entries {
			switch {
			case strings.Contains(e.Path, "/"):
			case len(inside[e.Name]) > 0:
				body.Lines = append(body.Lines, foreign.Name(mark(e)).Own(": ").Add(enumerate(inside[e.Name], foreign.Own(" "), treeLine)))
			default:
				here = append(here, mark(e))
			}
		}
		// What has nothing in it to show shares lines.
		for part := range slices.Chunk(here, perLine) {
			body.Lines = append(body.Lines, enumerate(part, foreign.Own(" "), perLine*treeLine))
		}
		if more := listing.Total - len(listing.Entries); more > 0 {
			body.Lines = append(body.Lines, foreign.Own("… ").Int(more).Own(" more entries; list_directory shows them"))
		}
		return body, nil
	})
}

const (
	// treeLine is how many characters the line of a folder has.
	treeLine = 160
	// perLine is how many entries share one.
	perLine = 10
)

func mark(e project.Entry) string {
	switch e.Type {
	case project.Directory:
		return e.Name + "/"
	case project.Symlink:
		return e.Name + "@"
	}
	return e.Name
}
