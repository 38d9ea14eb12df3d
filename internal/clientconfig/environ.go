package clientconfig

import (
	"maps"
	"slices"
	"strings"

	"github.com/copse-dev/copse/internal/hostenv"
)

// Environ returns the environment of a server that the client starts by an entry, if the client's
// own environment is parent. Both are in the form KEY=value.
func (c Client) Environ(parent []string, s Server) []string {
	own := make(map[string]string, len(parent))
	for _, kv := range parent {
		name, value, _ := strings.Cut(kv, "=")
		own[name] = value
	}
	env := make(map[string]string)
	passes := c.filter.Passes(own)
	for name, value := range own {
		if passes(name, value) || c.toml && slices.Contains(s.EnvVars, name) {
			env[name] = value
		}
	}
	for name, text := range s.Env {
		env[name] = c.expandVariable(text, own)
	}
	var list []string
	for _, name := range slices.Sorted(maps.Keys(env)) {
		list = append(list, name+"="+env[name])
	}
	return list
}

// StartsIn reports whether the client starts a server in the directory that its entry names;
// the others start it in their own.
func (c Client) StartsIn() bool { return c.form.dir }

// Outside reports whether the client starts servers in no project, and tells them of none.
func (c Client) Outside() bool { return c.ID == "claude-desktop" }

// Withheld returns which of [hostenv.Variables] are set in parent and do not reach a server that
// the client starts by an entry.
func (c Client) Withheld(parent []string, s Server) []string {
	reach := hostenv.Resolved(c.Environ(parent, s))
	var names []string
	for _, name := range hostenv.Variables() {
		is := func(kv string) bool { return strings.HasPrefix(kv, name+"=") }
		if slices.ContainsFunc(hostenv.Resolved(parent), is) && !slices.ContainsFunc(reach, is) {
			names = append(names, name)
		}
	}
	return names
}
