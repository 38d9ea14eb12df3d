package clientconfig

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// Aside returns the members of an existing entry that Set removes because they have no meaning for
// the transport of s: what a person has added, without what Set writes itself. Give them back with
// [Server.Aside]. switched reports whether the entry exists and has the other transport.
func (c Client) Aside(text []byte, name string, s Server) (members map[string]any, switched bool, err error) {
	all, err := c.raw(text)
	if err != nil {
		return nil, false, err
	}
	data, ok := all[name]
	if ok = ok && json.Unmarshal(data, &members) == nil; !ok {
		return nil, false, nil // it does not exist, or has an unknown form
	}
	was := serverOf(members)
	if (was.URL == "") == (s.URL == "") {
		return nil, false, nil
	}
	gone := startKeys
	if s.URL == "" {
		gone = addressKeys
	}
	maps.DeleteFunc(members, func(key string, _ any) bool { return !slices.Contains(gone, key) })
	if s.URL == "" {
		withoutAddress(members)
	} else {
		c.withoutStart(members, was)
	}
	return members, true, nil
}

// serverOf returns what the members of an entry say.
func serverOf(members map[string]any) Server {
	var e entry
	if data, err := json.Marshal(members); err != nil || e.read(data) != nil {
		return Server{}
	}
	return e.server()
}

// withoutAddress removes what Set writes into the entry of an address.
func withoutAddress(members map[string]any) {
	for _, key := range []string{"url", "httpUrl", "serverUrl"} {
		delete(members, key)
	}
	for _, key := range []string{"headers", "http_headers"} {
		headers, ok := members[key].(map[string]any)
		if !ok {
			continue
		}
		maps.DeleteFunc(headers, func(name string, _ any) bool { return strings.EqualFold(name, "Authorization") })
		if len(headers) == 0 {
			delete(members, key)
		}
	}
}

// withoutStart removes what Set writes into the entry of a program.
func (c Client) withoutStart(members map[string]any, was Server) {
	if plain := was.Args; len(plain) == 2 && serveAt(append([]string{was.Command}, plain...)) == 1 {
		delete(members, "command")
		delete(members, "args")
	}
	if env, ok := members[c.envKey()].(map[string]any); ok {
		references := c.filter.References()
		maps.DeleteFunc(env, func(name string, value any) bool { return references[name] != "" && value == references[name] })
		if len(env) == 0 {
			delete(members, c.envKey())
		}
	}
	if names, ok := members["env_vars"].([]any); ok {
		names = slices.DeleteFunc(names, func(name any) bool {
			text, ok := name.(string)
			return ok && slices.Contains(c.filter.Listed(), text)
		})
		if members["env_vars"] = names; len(names) == 0 {
			delete(members, "env_vars")
		}
	}
}

// restore adds the members that were set aside, as far as the entry's transport knows them.
func (e *edit) restore(aside map[string]any) {
	for _, key := range slices.Sorted(maps.Keys(aside)) {
		if slices.Contains(e.drop, key) || key == "command" || key == "args" {
			continue // the command line is composed from them
		}
		i := slices.IndexFunc(e.set, func(s setting) bool { return s.key == key })
		if i < 0 {
			e.set = append(e.set, setting{key, aside[key], ifAbsent})
			continue
		}
		e.set[i].value, _ = e.set[i].resolve(aside[key])
	}
}
