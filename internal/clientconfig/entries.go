package clientconfig

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/copse-dev/copse/internal/clientconfig/jsonedit"
	"github.com/copse-dev/copse/internal/clientconfig/tomledit"
)

// maxServers is the maximum number of servers in a text. A repository can contain a client's file, and
// each server costs time and a line of output.
const maxServers = 100

// Entries returns the servers that a text names, by name. An empty text has none. under are the texts
// of files that count less, the first one most: opencode adds their members to an entry of the same
// name, and the other clients ignore them.
func (c Client) Entries(text []byte, under ...[]byte) ([]Named, error) {
	servers, err := c.raw(text)
	if len(servers) > maxServers {
		return nil, fmt.Errorf("it has %d servers; copse reads at most %d", len(servers), maxServers)
	}
	return c.named(servers, under), err
}

// AllEntries returns Entries, however many there are, for a text from which some are removed.
func (c Client) AllEntries(text []byte) ([]Named, error) {
	servers, err := c.raw(text)
	return c.named(servers, nil), err
}

func (c Client) named(servers map[string]json.RawMessage, under [][]byte) []Named {
	var found []Named
	for _, name := range slices.Sorted(maps.Keys(servers)) {
		var own, e entry
		whole := servers[name]
		for _, text := range under {
			if lower, err := c.raw(text); err == nil && c.form.merged && len(lower) <= maxServers {
				whole = jsonedit.Merge(lower[name], whole)
			}
		}
		if own.read(servers[name]) != nil || e.read(whole) != nil {
			continue // of another program, in an unknown form
		}
		found = append(found, Named{Name: name, Server: e.server(), Refused: cmp.Or(c.refuses(own), c.refuses(e)), Others: others(servers[name])})
	}
	return found
}

// others returns the names of the members of an entry that entry does not read.
func others(data json.RawMessage) []string {
	var members map[string]json.RawMessage
	if json.Unmarshal(data, &members) != nil {
		return nil
	}
	for field := range reflect.TypeFor[entry]().Fields() {
		delete(members, field.Tag.Get("json"))
	}
	return slices.Sorted(maps.Keys(members))
}

// raw returns the entries of a text as JSON, by name.
func (c Client) raw(text []byte) (map[string]json.RawMessage, error) {
	if len(text) == 0 {
		return nil, nil
	}
	data, err := c.object(text)
	if err != nil || data == nil {
		return nil, err
	}
	var servers map[string]json.RawMessage
	if err := json.Unmarshal(data, &servers); err != nil {
		return nil, fmt.Errorf("%w: %q", jsonedit.ErrShape, c.key)
	}
	return servers, nil
}

// object returns the object of a text with the entries as JSON, nil or null if there is none.
func (c Client) object(text []byte) ([]byte, error) {
	if c.toml {
		return tomledit.JSON(text, c.key)
	}
	doc, err := jsonedit.Parse(text, c.key)
	if err != nil {
		return nil, err
	}
	return doc.Root().Raw(c.key), nil
}

// entry is the part of an entry that this package reads. It ignores members of another form.
type entry struct {
	Command   json.RawMessage `json:"command"`
	Type      lax[string]     `json:"type"`
	Enabled   lax[*bool]      `json:"enabled"`
	Disabled  lax[bool]       `json:"disabled"`
	Tools     lax[*[]string]  `json:"tools"`
	Args      lax[[]string]   `json:"args"`
	Dir       lax[string]     `json:"cwd"`
	EnvVars   lax[[]string]   `json:"env_vars"`
	URL       string          `json:"url"`
	HTTPURL   string          `json:"httpUrl"`
	ServerURL string          `json:"serverUrl"`
	// Env and Headers have two names each: the second are those of opencode and Codex.
	Env         lax[map[string]string] `json:"env"`
	Environment lax[map[string]string] `json:"environment"`
	Headers     lax[map[string]string] `json:"headers"`
	HTTPHeaders lax[map[string]string] `json:"http_headers"`
}

// read reads the JSON of an entry. Names in another case are not members of an entry for a client, but they are
// for encoding/json.
func (e *entry) read(data []byte) error {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(data, &members); err != nil {
		return err
	}
	for _, name := range others(data) {
		delete(members, name)
	}
	exact, err := json.Marshal(members)
	if err != nil {
		return err
	}
	return json.Unmarshal(exact, e)
}

// lax is a value that counts as absent if it has another form.
type lax[T any] struct {
	value T
	wrong bool
}

func (l *lax[T]) UnmarshalJSON(data []byte) error {
	var v T
	if json.Unmarshal(data, &v) == nil {
		l.value = v
		return nil
	}
	l.wrong = true
	return nil
}

// server returns what an entry says.
func (e entry) server() Server {
	s := Server{
		Args: e.Args.value, Dir: e.Dir.value, EnvVars: e.EnvVars.value, Env: e.Env.value,
		URL: e.URL + e.HTTPURL + e.ServerURL, Token: e.token(),
	}
	if s.Env == nil {
		s.Env = e.Environment.value
	}
	var commandLine []string
	if json.Unmarshal(e.Command, &commandLine) == nil && len(commandLine) > 0 {
		s.Command, s.Args = commandLine[0], commandLine[1:]
		return s
	}
	_ = json.Unmarshal(e.Command, &s.Command) // an entry without one has an address
	return s
}

// token returns what an entry sends as a bearer token.
func (e entry) token() string {
	for _, headers := range []map[string]string{e.Headers.value, e.HTTPHeaders.value} {
		for name, value := range headers {
			scheme, token, _ := strings.Cut(value, " ")
			if strings.EqualFold(name, "Authorization") && strings.EqualFold(scheme, "Bearer") {
				return strings.TrimSpace(token)
			}
		}
	}
	return ""
}
