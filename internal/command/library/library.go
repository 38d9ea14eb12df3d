// Package library finds and caches the registries of agents.
//
// Create a [Library] with [New]; [Library.Open] returns an agent's [Catalog], which has
// its commands and searches them, and [Library.All] those of all agents. A catalog is parsed once,
// and its index is built at the first search. Both remain until the file changes, which the next
// Open detects, or until later catalogs need their memory. The package writes nothing.
//
// The map of agents gives the location of an agent's registry. It is the file
// .agent/climpt/config/registry_config.json of the workspace, or else that of the
// home directory:
//
//	{"registries": {"climpt": ".agent/climpt/registry.json"}}
//
// The default is .agent/<agent>/registry.json. The library looks for the registry
// in the workspace, then in the home directory. It continues with the next location only
// if the file does not exist: an unreadable file is an error.
//
// Whatever a map or a link contains, the library reads only the workspace and the
// directory .agent of the home directory.
//
// The locations are those of climpt (github.com/tettuan/climpt, 2025 to 2026).
package library

import (
	"errors"
	"io/fs"
	"maps"
	"slices"
	"sync"

	"github.com/copse-dev/copse/internal/cachedfile"
	"github.com/copse-dev/copse/internal/command"
	"github.com/copse-dev/copse/internal/lazyregexp"
)

// MaxSize is the maximum size of a registry. 10,000 commands have about 6 MB.
const MaxSize = 32 << 20

// DefaultAgent is the agent if none is named.
const DefaultAgent = "climpt"

// Library is the registries of a workspace and of its user. It is safe for
// concurrent use.
type Library struct {
	locations []location // of registries, in this order

	mu       sync.Mutex
	maps     []*cachedfile.File[map[string]string] // by location
	catalogs map[address]*cachedfile.File[*Catalog]
	held     map[address]weight // of the catalogs that were parsed
	most     weight             // that All opens; twice as much is held
}

// weight is what a catalog in memory consists of.
type weight struct{ size, commands int }

// address is the location of a registry.
type address struct {
	location int
	path     string // with slashes, from the workspace or the home directory
}

// New returns the library of the workspace and home directory at these absolute paths; home is
// empty if there is none. It reads nothing yet.
func New(workspace, home string) *Library {
	l := &Library{
		locations: []location{workspaceLocation(workspace)},
		catalogs:  make(map[address]*cachedfile.File[*Catalog]), held: make(map[address]weight),
		most: weight{MaxSize, command.MaxEntries},
	}
	if home != "" {
		l.locations = append(l.locations, homeLocation(home))
	}
	l.forget("")
	return l
}

// Open returns the current catalog of an agent. The error is a *NameError or a *LoadError.
func (l *Library) Open(agent string) (*Catalog, error) {
	path, err := l.path(agent)
	if err != nil {
		return nil, err
	}
	for i, p := range l.locations {
		name, reachable := p.name(path)
		if !reachable {
			continue
		}
		catalog, err := l.load(address{i, path}, name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, &LoadError{Path: p.shown(path), Err: err}
		}
		return catalog, nil
	}
	return nil, &LoadError{Path: path, Err: fs.ErrNotExist}
}

// Reload calls Open without the cached data of the agent.
func (l *Library) Reload(agent string) (*Catalog, error) {
	l.forget("") // the map may name another file
	path, err := l.path(agent)
	if err != nil {
		return nil, err
	}
	l.forget(path)
	return l.Open(agent)
}

// Agents lists the existing agents, by name: those in the map, and those whose directory has a
// registry. An error of the map accompanies the others.
func (l *Library) Agents() ([]string, error) {
	names := make(map[string]bool)
	for _, p := range l.locations {
		for _, name := range p.agents() {
			names[name] = true
		}
	}
	mapped, _, err := l.mapping()
	for name := range mapped {
		if agentName.Get().MatchString(name) {
			names[name] = true
		}
	}
	return slices.Sorted(maps.Keys(names)), err
}

// load returns the catalog at an address, if the location has one with that name.
func (l *Library) load(at address, name string) (*Catalog, error) {
	l.mu.Lock()
	file, kept := l.catalogs[at]
	if !kept {
		p := l.locations[at.location]
		file = cachedfile.NewIn(p, name, MaxSize, func(data []byte) (*Catalog, error) {
			return newCatalog(p.shown(at.path), data)
		})
		l.catalogs[at] = file
	}
	l.mu.Unlock()

	catalog, err := file.Get()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.catalogs[at] != file {
		return catalog, err
	}
	if errors.Is(err, fs.ErrNotExist) { // a name without a file is not cached
		l.drop(at)
	}
	if err == nil {
		l.hold(at, catalog)
	}
	return catalog, err
}

// hold counts a catalog, and drops others while all together exceed twice the limits of [Library.All].
func (l *Library) hold(at address, catalog *Catalog) {
	l.held[at] = weight{catalog.size, len(catalog.Commands)}
	var sum weight
	for _, w := range l.held {
		sum.size, sum.commands = sum.size+w.size, sum.commands+w.commands
	}
	for other, w := range l.held {
		if len(l.held) <= 2*MaxAgents && sum.size <= 2*l.most.size && sum.commands <= 2*l.most.commands {
			return
		}
		if other != at {
			sum.size, sum.commands = sum.size-w.size, sum.commands-w.commands
			l.drop(other)
		}
	}
}

func (l *Library) drop(at address) {
	delete(l.catalogs, at)
	delete(l.held, at)
}

// forget drops the cached maps, and the cached registry at path.
func (l *Library) forget(path string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.maps = make([]*cachedfile.File[map[string]string], len(l.locations))
	for i, p := range l.locations {
		name, _ := p.name(mapPath) // which every location has
		l.maps[i] = cachedfile.NewIn(p, name, maxMapSize, parseMap)
		l.drop(address{i, path})
	}
}

var agentName = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9_-]*$`)

// path returns the path of an agent's registry.
func (l *Library) path(agent string) (string, error) {
	if !agentName.Get().MatchString(agent) {
		return "", &NameError{Agent: agent}
	}
	mapped, from, err := l.mapping()
	if err != nil {
		return "", err
	}
	entry, ok := mapped[agent]
	if !ok {
		return agentsDir + "/" + agent + "/" + registryFile, nil
	}
	path, err := from.resolve(agent, entry)
	if err != nil {
		return "", &LoadError{Path: from.shown(mapPath), Err: err}
	}
	return path, nil
}

// mapping returns the map of agents, and its location.
func (l *Library) mapping() (map[string]string, location, error) {
	l.mu.Lock()
	files := l.maps
	l.mu.Unlock()
	for i, p := range l.locations {
		mapped, err := files[i].Get()
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, p, &LoadError{Path: p.shown(mapPath), Err: err}
		}
		return mapped, p, nil
	}
	return nil, location{}, nil
}

// newCatalog parses the registry at path.
func newCatalog(path string, data []byte) (*Catalog, error) {
	registry, err := command.Parse(data)
	if err != nil {
		return nil, err
	}
	return &Catalog{Registry: registry, Path: path, size: len(data)}, nil
}
