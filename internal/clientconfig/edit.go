package clientconfig

import (
	"cmp"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
)

// members are those of an entry while it is changed.
type members interface {
	Get(key string) any
	Set(key string, value any)
	Remove(key string)
}

// apply changes an entry.
func (e edit) apply(to members) {
	for _, key := range e.drop {
		to.Remove(key)
	}
	for _, s := range e.set {
		if value, differs := s.resolve(to.Get(s.key)); differs {
			to.Set(s.key, value)
		}
	}
}

// edit is the change to an entry.
type edit struct {
	set []setting
	// drop are members without meaning for the transport of the server.
	drop []string
}

// setting is a member of an entry.
type setting struct {
	key   string
	value any // a string, a boolean, a list, or an object
	how   how
}

// how is the effect of a setting on an existing member.
type how int

const (
	replace    how = iota // the value replaces it
	ifAbsent              // it stays
	addMembers            // it gets its missing members and elements
	setMembers            // the value's members replace its own
)

// Members of entries that start a server, and of those that name an address.
var (
	startKeys   = []string{"command", "args", "env", "environment", "env_vars", "cwd"}
	addressKeys = []string{"url", "httpUrl", "serverUrl", "headers", "http_headers", "env_http_headers", "bearer_token_env_var"}
)

// edit returns the changes that turn the existing entry into the entry of server s, in the
// order in which people write its keys.
func (c Client) edit(s, before Server) edit {
	var e edit
	if before.Command == "" {
		before = serverOf(s.Aside)
	}
	add := func(key string, value any, how how) { e.set = append(e.set, setting{key, value, how}) }
	kinds := [...]string{"stdio", "http"}
	if c.form.command {
		kinds = [...]string{"local", "remote"}
	}
	if s.URL != "" {
		if c.form.hasType {
			add("type", kinds[1], replace)
		}
		add(c.form.urlKey, s.URL, replace)
		if s.Token != "" {
			key := "headers"
			if c.toml {
				key = "http_headers"
			}
			add(key, map[string]string{"Authorization": "Bearer " + s.Token}, setMembers)
		}
		e.drop = startKeys
	} else {
		if c.form.hasType {
			add("type", kinds[0], replace)
		}
		line := commandLine(before, s)
		if c.form.command {
			add("command", line, replace)
		} else {
			add("command", line[0], replace)
			add("args", line[1:], replace)
		}
		if names := c.filter.Listed(); c.toml && len(names) > 0 {
			add("env_vars", names, addMembers)
		} else if references := c.filter.References(); len(references) > 0 {
			add(c.envKey(), references, addMembers)
		}
		e.drop = addressKeys
	}
	if c.form.command {
		add("enabled", true, ifAbsent)
	}
	if c.form.tools {
		add("tools", []string{"*"}, ifAbsent)
	}
	e.restore(s.Aside)
	return e
}

func (c Client) envKey() string { return cmp.Or(c.form.env, "env") }

// commandLine returns the new command line: as before, but with the program and the flags of s. A
// person's program in front of copse stays.
func commandLine(before, s Server) []string {
	line := append([]string{before.Command}, before.Args...)
	at := serveAt(line)
	wanted := slices.Clone(s.Args)
	switch {
	case before.inShell():
		return line
	case at < 0 || len(wanted) < 2:
		return append([]string{s.Command}, wanted...)
	case at == 1 && strings.HasPrefix(base(line[0]), "copse"), at > 1 && isCopse(line[at-1]) && line[at-1] != "copse":
		line[at-1] = s.Command // a program in front finds copse by its name
	}
	for _, flag := range s.Without {
		line = withoutFlag(line, at+2, flag)
	}
	for flags := wanted[2:]; len(flags) > 0; {
		n := 1
		if len(flags) > 1 && !strings.HasPrefix(flags[1], "-") {
			n = 2
		}
		line = append(withoutFlag(line, at+2, flags[0]), flags[:n]...)
		flags = flags[n:]
	}
	return line
}

// inShell reports whether a shell starts copse, with a command in one of the arguments.
func (s Server) inShell() bool {
	return slices.ContainsFunc(s.Args, func(arg string) bool { return strings.Contains(arg, "copse mcp serve") })
}

// serveAt returns where the words "mcp serve" begin in a command line, -1 without them.
func serveAt(line []string) int {
	for i := 1; i+1 < len(line); i++ {
		if line[i] == "mcp" && line[i+1] == "serve" {
			return i
		}
	}
	return -1
}

// Limits returns the flags on the command line that limit what copse serves: --read-only and
// --toolsets, with their values.
func (s Server) Limits() []string {
	line := append([]string{s.Command}, s.Args...)
	at := serveAt(line)
	if at < 0 {
		return nil
	}
	var limits []string
	for i := at + 2; i < len(line); i++ {
		name, value, hasValue := strings.Cut(line[i], "=")
		switch {
		case name == "--read-only" && (!hasValue || value == "true"):
			limits = append(limits, name)
		case name == "--toolsets" && hasValue:
			limits = append(limits, line[i])
		case name == "--toolsets" && i+1 < len(line):
			i++
			limits = append(limits, name+"="+line[i])
		}
	}
	return limits
}

// NamesRepository reports whether the command line says which repository to serve.
func (s Server) NamesRepository() bool {
	return slices.ContainsFunc(s.Args, func(arg string) bool { return arg == "--repo" || strings.HasPrefix(arg, "--repo=") })
}

// OnlyServes reports whether the arguments of copse, and the directory where it starts, only have it
// serve the client's project.
func (s Server) OnlyServes() bool {
	if s.Dir != "" || len(s.Args) < 2 || s.Args[0] != "mcp" || s.Args[1] != "serve" {
		return false
	}
	for flags := s.Args[2:]; len(flags) > 0; flags = flags[1:] {
		name, _, joined := strings.Cut(flags[0], "=")
		switch {
		case name == "--read-only":
		case slices.Contains([]string{"--toolsets", "--disable", "--name"}, name) && (joined || len(flags) > 1):
			if !joined {
				flags = flags[1:]
			}
		default:
			return false
		}
	}
	return true
}

// Chosen returns what an entry that is to start copse by its name has chosen beside that, as text:
// another program, arguments, variables, or other members. It returns "" for an entry that Set has
// made.
func (c Client) Chosen(s Named) string {
	own := c.filter.References()
	var variables []string
	for name, value := range s.Env {
		if own[name] != value {
			variables = append(variables, name)
		}
	}
	for _, name := range s.EnvVars {
		if !slices.Contains(c.filter.Listed(), name) {
			variables = append(variables, name)
		}
	}
	if s.Command == "copse" && s.OnlyServes() && len(variables) == 0 && len(s.Others) == 0 && s.URL == "" {
		return ""
	}
	text := strings.Join(append([]string{s.Command}, s.Args...), " ")
	if s.Dir != "" {
		text += " in " + s.Dir
	}
	if len(variables) > 0 {
		slices.Sort(variables)
		text += " with the variables " + strings.Join(slices.Compact(variables), ", ")
	}
	if s.URL != "" {
		text += " with the address " + s.URL
	}
	if len(s.Others) > 0 {
		text += " with " + strings.Join(s.Others, ", ")
	}
	return text
}

// isCopse reports whether a path is that of the program copse.
func isCopse(path string) bool { return base(path) == "copse" }

// base returns the name of a program.
func base(path string) string {
	return strings.TrimSuffix(filepath.Base(strings.ReplaceAll(path, `\`, "/")), ".exe")
}

// IsCopse reports whether a server is one of copse's programs, directly or behind a program that a
// person has put in front of it. The name of a person's own program says nothing, so that of the
// entry counts.
func (n Named) IsCopse() bool {
	line := append([]string{n.Command}, n.Args...)
	if at := serveAt(line); at > 0 && (isCopse(line[at-1]) || n.Name == "copse") || n.inShell() {
		return true
	}
	return slices.Contains([]string{"copse", "twig-mcp", "tic"}, base(n.Command))
}

// withoutFlag returns a command line without a flag and its value from an index on.
func withoutFlag(line []string, from int, flag string) []string {
	kept := slices.Clone(line[:from])
	for i := from; i < len(line); i++ {
		switch {
		case line[i] == flag:
			if i+1 < len(line) && !strings.HasPrefix(line[i+1], "-") {
				i++
			}
		case strings.HasPrefix(line[i], flag+"="):
		default:
			kept = append(kept, line[i])
		}
	}
	return kept
}

// resolve returns the new value of an existing member, nil if it does not exist, and whether the
// value differs.
func (s setting) resolve(there any) (value any, changed bool) {
	object, isObject := there.(map[string]any)
	if want, ok := objectOf(s.value); ok && isObject {
		merged := s.mergeObject(object, want)
		return merged, !reflect.DeepEqual(merged, object)
	}
	list, isList := there.([]any)
	if want, ok := listOf(s.value); ok && isList && s.how != ifAbsent {
		merged := s.mergeList(list, want)
		return merged, !reflect.DeepEqual(merged, list)
	}
	if there == nil || s.how != ifAbsent && !reflect.DeepEqual(there, s.value) {
		return s.value, true
	}
	return there, false
}

func (s setting) mergeObject(there, want map[string]any) map[string]any {
	merged := maps.Clone(there)
	for name, v := range want {
		if _, ok := merged[name]; !ok || s.how == setMembers {
			merged[name] = v
		}
	}
	return merged
}

func (s setting) mergeList(there, want []any) []any {
	if s.how == replace {
		return want
	}
	merged := slices.Clone(there)
	for _, v := range want {
		if !slices.ContainsFunc(merged, func(has any) bool { return reflect.DeepEqual(has, v) }) {
			merged = append(merged, v)
		}
	}
	return merged
}

// objectOf returns the members of a value that is an object.
func objectOf(value any) (map[string]any, bool) {
	texts, ok := value.(map[string]string)
	if !ok {
		object, ok := value.(map[string]any)
		return object, ok
	}
	object := make(map[string]any, len(texts))
	for name, text := range texts {
		object[name] = text
	}
	return object, true
}

// listOf returns the elements of a value that is a list.
func listOf(value any) ([]any, bool) {
	texts, ok := value.([]string)
	if !ok {
		list, ok := value.([]any)
		return list, ok
	}
	list := make([]any, len(texts))
	for i, text := range texts {
		list[i] = text
	}
	return list, true
}
