package clientconfig

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// Entries are the servers that a text names, by name. An empty text has none.
func (c Client) Entries(text []byte) ([]Named, error) {
	if len(text) == 0 {
		return nil, nil
	}
	var data []byte
	if c.toml {
		if err := checkNesting(text, true); err != nil {
			return nil, err
		}
		var file map[string]any
		if err := toml.Unmarshal(text, &file); err != nil {
			return nil, fmt.Errorf("it is not TOML: %w", err)
		}
		var err error
		if data, err = json.Marshal(file[c.key]); err != nil {
			return nil, fmt.Errorf("it is not a configuration: %w", err)
		}
	} else {
		v, root, err := parse(text)
		if err != nil {
			return nil, err
		}
		at := member(root, c.key)
		if at < 0 {
			return nil, nil
		}
		v = root.Members[at].Value.Clone()
		v.Standardize()
		data = v.Pack()
	}
	var servers map[string]json.RawMessage
	if err := json.Unmarshal(data, &servers); err != nil {
		return nil, fmt.Errorf("%w: %q", errShape, c.key)
	}
	var found []Named
	for _, name := range slices.Sorted(maps.Keys(servers)) {
		var e entry
		if json.Unmarshal(servers[name], &e) != nil {
			continue // of another program, in a form that is not known here
		}
		found = append(found, Named{Name: name, Server: e.server()})
	}
	return found, nil
}

// server is what an entry says.
func (e entry) server() Server {
	s := Server{Args: e.Args, URL: e.URL + e.HTTPURL + e.ServerURL, Token: e.token()}
	var commandLine []string
	if json.Unmarshal(e.Command, &commandLine) == nil && len(commandLine) > 0 {
		s.Command, s.Args = commandLine[0], commandLine[1:]
		return s
	}
	_ = json.Unmarshal(e.Command, &s.Command) // an entry without one has an address
	return s
}

// token is what an entry sends as a bearer token.
func (e entry) token() string {
	for _, headers := range []map[string]string{e.Headers, e.HTTPHeaders} {
		for name, value := range headers {
			scheme, token, _ := strings.Cut(value, " ")
			if strings.EqualFold(name, "Authorization") && strings.EqualFold(scheme, "Bearer") {
				return strings.TrimSpace(token)
			}
		}
	}
	return ""
}
