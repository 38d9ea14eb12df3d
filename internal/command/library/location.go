package library

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/copse-dev/copse/internal/jsonfile"
	"github.com/copse-dev/copse/internal/regular"
	"github.com/copse-dev/copse/internal/rooted"
)

const (
	agentsDir    = ".agent"
	registryFile = "registry.json"
	mapPath      = agentsDir + "/" + DefaultAgent + "/config/registry_config.json"
	maxMapSize   = 1 << 20
)

// HomePrefix begins the Path of a file in the home directory.
const HomePrefix = "~/"

// location is a directory that may contain registries. Paths are from the workspace or the home
// directory; names are from the readable directory.
type location struct {
	directory string // nothing else is read
	inside    string // paths with a name begin with this: "" or ".agent/"
	prefix    string // of displayed paths
	label     string // a person's word for the readable directory
}

func workspaceLocation(dir string) location { return location{directory: dir, label: "the workspace"} }

// homeLocation returns the part of a home directory that belongs to agents.
func homeLocation(dir string) location {
	return location{
		directory: filepath.Join(dir, agentsDir),
		inside:    agentsDir + "/",
		prefix:    HomePrefix,
		label:     "the directory ~/" + agentsDir,
	}
}

// name returns the name of a path in the directory; ok is false for a path that does not lead into
// it.
func (p location) name(path string) (name string, ok bool) { return strings.CutPrefix(path, p.inside) }

// shown returns a path for display.
func (p location) shown(path string) string { return p.prefix + path }

// Stat implements cachedfile.Directory for a location that no link leaves.
func (p location) Stat(name string) (fs.FileInfo, error) {
	return rooted.Directory(p.directory).Stat(name)
}

// Open opens a file for reading.
func (p location) Open(name string) (*os.File, error) {
	return rooted.Directory(p.directory).Open(name)
}

// agents lists the agents whose directory has a registry.
func (p location) agents() []string {
	root, err := rooted.Open(p.directory)
	if err != nil {
		return nil
	}
	defer root.Close()
	directory, ok := p.name(agentsDir + "/")
	directory = path.Clean(directory)
	if !ok {
		return nil
	}
	entries, err := root.ReadDir(directory)
	if err != nil {
		return nil
	}
	var names []string
	for _, e := range entries {
		if !agentName.Get().MatchString(e.Name()) {
			continue
		}
		if info, err := root.Stat(path.Join(directory, e.Name(), registryFile)); regular.Unseen(err) || err == nil && info.Mode().IsRegular() {
			names = append(names, e.Name())
		}
	}
	return names
}

// parseMap reads a map of agents.
func parseMap(data []byte) (map[string]string, error) {
	data = []byte(strings.TrimPrefix(string(data), "\uFEFF"))
	file, err := jsonfile.Decode[struct {
		Registries map[string]string `json:"registries"`
	}](data)
	if err != nil {
		return nil, err
	}
	if file.Registries == nil {
		return nil, errors.New("registries: missing or null; it maps agents to the paths of their registries")
	}
	return file.Registries, nil
}

// resolve returns the path of an agent in the map of the location.
func (p location) resolve(agent, entry string) (string, error) {
	slashed := strings.ReplaceAll(entry, `\`, "/") // one map serves every system
	clean := path.Clean(slashed)
	var reason string
	switch _, reachable := p.name(clean); {
	case entry == "":
		reason = "is empty"
	case path.IsAbs(slashed) || len(slashed) > 1 && slashed[1] == ':':
		reason = "is absolute"
	case !reachable || !filepath.IsLocal(filepath.FromSlash(clean)):
		reason = "points outside " + p.label
	default:
		return clean, nil
	}
	at := jsonfile.Key("registries", agent)
	return "", fmt.Errorf("%s: the path %q %s; name a file in %s, as in %q", at, entry, reason, p.label, agentsDir+"/"+agent+"/"+registryFile)
}
