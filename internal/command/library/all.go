package library

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/command"
)

// MaxAgents is the maximum number of agents whose registries [Library.All] opens. Together they have
// at most [MaxSize] bytes, and All opens none after command.MaxEntries commands: a stranger's
// repository can contain any number of large registries.
const MaxAgents = 100

// Agent is an agent with its catalog.
type Agent struct {
	Name string
	*Catalog
}

// All opens the registries of all agents, the default agent's first. Each error is about an agent
// whose registry cannot be opened, the map of agents, or the agents that are beyond a limit.
func (l *Library) All() ([]Agent, []error) {
	var all []Agent
	var errs []error
	names, err := l.Agents()
	if err != nil {
		errs = append(errs, err)
	}
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(rank(a), rank(b)) })
	size, commands := int64(0), 0
	for i, name := range names {
		size += l.size(name)
		if i == MaxAgents || size > int64(l.most.size) || commands >= l.most.commands {
			return all, append(errs, fmt.Errorf(
				"the prompts of %s, from %s on, are left out: copse opens the registries of at most %d agents, with %d MiB and %d commands together; name an agent to use its prompts",
				cleantext.Count(len(names)-i, "agent"), cleantext.Cut(name, maxShown), MaxAgents, MaxSize>>20, command.MaxEntries))
		}
		catalog, err := l.Open(name)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		all, commands = append(all, Agent{name, catalog}), commands+len(catalog.Commands)
	}
	return all, errs
}

// maxShown is the number of characters of an agent's name in an error.
const maxShown = 60

func rank(agent string) int {
	if agent == DefaultAgent {
		return 0
	}
	return 1
}

// size returns the size of an agent's registry, 0 if it is not opened.
func (l *Library) size(agent string) int64 {
	path, err := l.path(agent)
	if err != nil {
		return 0
	}
	for _, p := range l.locations {
		name, reachable := p.name(path)
		if !reachable {
			continue
		}
		if info, err := p.Stat(name); err == nil && info.Size() <= MaxSize {
			return info.Size()
		}
	}
	return 0
}
