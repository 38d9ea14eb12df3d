// Package clientconfig writes the entry of an MCP server into the configuration of a
// client, in that client's own format and file.
//
// [Lookup] finds a [Client]; [Client.Path] is its file, [Client.Set] and [Client.Remove]
// change the text of one. They guarantee that
//
//   - everything else in the text remains, byte for byte: other entries, their
//     order, comments, line endings;
//   - an existing entry keeps a person's additions: arguments, variables, settings, a
//     program in front of copse; those without meaning for another transport can be set aside and
//     come back with the first one;
//   - an entry that already exists unchanged changes nothing;
//   - Remove removes what Set has added, and nothing else;
//   - an invalid text is an error and does not change.
//
// Many clients start servers with only a part of the environment. Set writes references
// to the variables that copse needs, in the client's own form, and never their values.
// [Client.Environ] returns the environment that a server then gets.
//
// Package clientfile names the files, jsonedit and tomledit change their texts, and sessionhook
// adds the hooks that inform a session. All of them read and write only texts; the caller handles
// the files.
package clientconfig

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/copse-dev/copse/internal/clientconfig/clientfile"
	"github.com/copse-dev/copse/internal/clientconfig/jsonedit"
	"github.com/copse-dev/copse/internal/clientconfig/passing"
	"github.com/copse-dev/copse/internal/clientconfig/tomledit"
)

// Server is the server in a client's entry.
type Server struct {
	// Command starts it on standard input and output, with Args.
	Command string
	Args    []string
	// Without are flags that Set removes from an existing entry.
	Without []string
	// Aside are members that an existing entry had for this transport before it got the other
	// one, from [Client.Aside]. Set gives them back.
	Aside map[string]any
	// Env contains the variables that the entry sets for the server, in written form: they can
	// refer to others. Set writes its own references and none of these.
	Env map[string]string
	// EnvVars are the variables that Codex passes on, and Dir is the directory to start in; "" is
	// the client's own.
	EnvVars []string
	Dir     string
	// URL is its address over HTTP, and Token the token that it requires there; URL is "" for a
	// command.
	URL, Token string
}

// Client is a program that uses MCP servers.
type Client struct {
	// ID is its name in commands, Title in sentences.
	ID, Title string

	toml    bool
	key     string                     // of the entries in the file
	user    map[string]clientfile.Path // by system, "" for the others
	project []string
	// above, over, and under are the further files of a user: those in above and over count more than
	// user, and those in above more than a project's, too. Files without a place on this machine are
	// left out. projectOver are those over a project's file.
	above, over, under []clientfile.Path
	projectOver        [][]string
	form               form
	// filter describes what the client withholds from the servers that it starts.
	filter passing.Filter
}

// form describes how a client writes entries.
type form struct {
	hasType bool   // with the kind of server
	urlKey  string // "" if it does not support HTTP
	command bool   // command and arguments are one list
	env     string // the key of variables, "" for env
	dir     bool   // it reads cwd
	tools   bool   // it has a list of tools to offer
	keyed   bool   // it refuses a file without the object of servers
	merged  bool   // it merges the entries of a name from all files
}

// everywhere returns a path that is the same on all systems.
func everywhere(parts ...string) map[string]clientfile.Path {
	return map[string]clientfile.Path{"": parts}
}

// clients returns all known clients.
func clients() []Client {
	withType, plain := form{hasType: true, urlKey: "url"}, form{urlKey: "url"}
	return []Client{
		{ID: "claude-code", Title: "Claude Code", key: "mcpServers", user: everywhere(clientfile.ClaudeFile, ".claude.json"), project: []string{".mcp.json"}, form: withType, filter: passing.ClaudeCode},
		{
			ID: "claude-desktop", Title: "Claude Desktop", key: "mcpServers", form: form{}, filter: passing.SDKDefault,
			user: map[string]clientfile.Path{
				"darwin": {clientfile.Support, "Claude", "claude_desktop_config.json"}, "windows": {clientfile.AppData, "Claude", "claude_desktop_config.json"},
				"": {clientfile.Config, "Claude", "claude_desktop_config.json"},
			},
		},
		{
			ID: "vscode", Title: "VS Code", key: "servers", project: []string{".vscode", "mcp.json"}, form: withType,
			user: map[string]clientfile.Path{
				"darwin": {clientfile.Support, "Code", "User", "mcp.json"}, "windows": {clientfile.AppData, "Code", "User", "mcp.json"}, "": {clientfile.Config, "Code", "User", "mcp.json"},
			},
		},
		{ID: "cursor", Title: "Cursor", key: "mcpServers", user: everywhere(clientfile.Home, ".cursor", "mcp.json"), project: []string{".cursor", "mcp.json"}, form: plain},
		{
			ID: "codex", Title: "Codex", toml: true, key: "mcp_servers", user: everywhere(clientfile.CodexDir, "config.toml"),
			project: []string{".codex", "config.toml"}, form: form{urlKey: "url", dir: true}, filter: passing.Codex,
		},
		{
			ID: "gemini", Title: "Gemini CLI", key: "mcpServers", user: everywhere(clientfile.GeminiHome, ".gemini", "settings.json"),
			project: []string{".gemini", "settings.json"}, form: form{urlKey: "httpUrl", dir: true}, filter: passing.Gemini,
		},
		{
			ID: "opencode", Title: "opencode", key: "mcp", user: everywhere(clientfile.Config, "opencode", "opencode.json"), project: []string{"opencode.json"},
			above: []clientfile.Path{
				{clientfile.OpencodeDir, "opencode.jsonc"},
				{clientfile.OpencodeDir, "opencode.json"},
				{clientfile.Home, ".opencode", "opencode.jsonc"},
				{clientfile.Home, ".opencode", "opencode.json"},
			},
			over:        []clientfile.Path{{clientfile.OpencodeFile}, {clientfile.Config, "opencode", "opencode.jsonc"}},
			under:       []clientfile.Path{{clientfile.Config, "opencode", "config.json"}},
			projectOver: [][]string{{".opencode", "opencode.jsonc"}, {".opencode", "opencode.json"}, {"opencode.jsonc"}},
			form:        form{hasType: true, urlKey: "url", command: true, env: "environment", dir: true, merged: true},
		},
		{ID: "windsurf", Title: "Windsurf", key: "mcpServers", user: everywhere(clientfile.Home, ".codeium", "windsurf", "mcp_config.json"), form: form{urlKey: "serverUrl"}},
		{
			ID: "zed", Title: "Zed", key: "context_servers", project: []string{".zed", "settings.json"}, form: plain,
			user: map[string]clientfile.Path{"windows": {clientfile.AppData, "Zed", "settings.json"}, "": {clientfile.Config, "zed", "settings.json"}},
		},
		{
			// It reads the project's file of Claude Code, too.
			ID: "copilot", Title: "Copilot CLI", key: "mcpServers", user: everywhere(clientfile.CopilotDir, "mcp-config.json"), project: []string{".mcp.json"},
			form: form{hasType: true, urlKey: "url", tools: true, keyed: true}, filter: passing.Copilot,
		},
		{
			ID: "qwen", Title: "Qwen Code", key: "mcpServers", user: everywhere(clientfile.QwenDir, "settings.json"), project: []string{".qwen", "settings.json"},
			form: form{urlKey: "httpUrl", dir: true},
		},
	}
}

// IDs returns the names of all clients.
func IDs() []string {
	var ids []string
	for _, c := range clients() {
		ids = append(ids, c.ID)
	}
	return ids
}

// UnknownError reports an unknown client.
type UnknownError struct{ ID string }

func (e *UnknownError) Error() string {
	if near := Similar(e.ID); near != "" {
		return fmt.Sprintf("unknown client %q; did you mean %s? Known clients: %s", e.ID, near, strings.Join(IDs(), ", "))
	}
	return fmt.Sprintf("unknown client %q; known clients: %s", e.ID, strings.Join(IDs(), ", "))
}

// Similar returns the first client whose name begins with a word, ignoring case and punctuation.
// It returns "" if there is none.
func Similar(word string) string {
	letters := strings.NewReplacer("-", "", "_", "", " ", "")
	short := letters.Replace(strings.ToLower(word))
	if short == "" {
		return ""
	}
	for _, id := range IDs() {
		if strings.HasPrefix(letters.Replace(id), short) {
			return id
		}
	}
	return ""
}

// Lookup returns the client with this name.
func Lookup(id string) (Client, error) {
	all := clients()
	if i := slices.IndexFunc(all, func(c Client) bool { return c.ID == id }); i >= 0 {
		return all[i], nil
	}
	return Client{}, &UnknownError{ID: id}
}

// Path returns the client's file. It fails if the client has none for the scope.
func (c Client) Path(scope clientfile.Scope, l clientfile.Location) (string, error) {
	if scope == clientfile.Project {
		if c.project == nil {
			return "", fmt.Errorf("%s has no configuration for a project; use the user's", c.Title)
		}
		return l.InProject(c.project), nil
	}
	path, ok := c.user[l.GOOS]
	if !ok {
		path = c.user[""]
	}
	return l.Resolve(c.Title, path)
}

// Paths returns all files that the client reads for a scope, by precedence: where several have an
// entry of one name, the client uses that of the first. One of them is that of [Client.Path], which
// is the one to create.
func (c Client) Paths(scope clientfile.Scope, l clientfile.Location) ([]string, error) {
	path, err := c.Path(scope, l)
	if err != nil {
		return nil, err
	}
	var all []string
	if scope == clientfile.Project {
		for _, parts := range c.projectOver {
			all = append(all, l.InProject(parts))
		}
		return append(all, path), nil
	}
	return slices.Concat(l.Resolvable(c.above), l.Resolvable(c.over), []string{path}, l.Resolvable(c.under)), nil
}

// AboveProject reports whether a user's file counts more than those of a project.
func (c Client) AboveProject(path string, l clientfile.Location) bool {
	return slices.Contains(l.Resolvable(c.above), path)
}

// Merges reports whether the client merges the entries of a name from all files.
func (c Client) Merges() bool { return c.form.merged }

// NoHTTPError reports that a client only starts servers itself.
type NoHTTPError struct{ Title string }

func (e *NoHTTPError) Error() string {
	return e.Title + " starts its servers itself and reads no address from its file; use --transport stdio"
}

// CheckHTTP returns a NoHTTPError for a client that reads no address from its file.
func (c Client) CheckHTTP() error {
	if c.form.urlKey == "" {
		return &NoHTTPError{Title: c.Title}
	}
	return nil
}

// errInShell is the error for flags that an entry cannot get.
var errInShell = errors.New("a shell starts copse in the existing entry; change the flags in its command manually")

// Set returns text with the entry of a server. An empty text is a new file. An existing entry with
// that name keeps a person's additions. Set fails if [Client.Entries] would not read the result.
func (c Client) Set(text []byte, name string, s Server) ([]byte, error) {
	after, err := c.set(text, name, s)
	if _, unread := c.Entries(after); unread != nil && err == nil {
		return nil, fmt.Errorf("with the entry %q, %w; remove another entry first", name, unread)
	}
	return after, err
}

func (c Client) set(text []byte, name string, s Server) ([]byte, error) {
	if err := c.CheckHTTP(); s.URL != "" && err != nil {
		return nil, err
	}
	var before Server
	all, err := c.Entries(text)
	if err != nil {
		return nil, err
	}
	if i := slices.IndexFunc(all, func(n Named) bool { return n.Name == name }); i >= 0 {
		before = all[i].Server
	} else {
		s.Aside = nil // that entry no longer exists
	}
	if before.inShell() && s.URL == "" && (len(s.Without) > 0 || slices.ContainsFunc(s.Args, func(arg string) bool { return strings.HasPrefix(arg, "-") })) {
		return nil, errInShell
	}
	changes := c.edit(s, before)
	if c.toml {
		e, err := tomledit.Open(text, c.key, name)
		if err != nil {
			return nil, err
		}
		changes.apply(e)
		return e.Text()
	}
	doc, err := jsonedit.Parse(text, c.key)
	if err != nil {
		return nil, err
	}
	servers, err := doc.Root().AddObject(c.key)
	if err != nil {
		return nil, err
	}
	e, err := servers.AddObject(name)
	if err != nil { // it is of another form
		e = servers.ReplaceObject(name)
	}
	changes.apply(e)
	return doc.Text(), nil
}

// Remove returns text without the entry of that name, and without the object of servers if it is
// then empty and need not stay, and is not in keep. It returns the same text if there is no such entry.
func (c Client) Remove(text []byte, name string, keep ...string) ([]byte, error) {
	if c.toml {
		e, err := tomledit.Open(text, c.key, name)
		if err != nil {
			return nil, err
		}
		return e.Without(), nil
	}
	if len(bytes.TrimSpace(text)) == 0 {
		return text, nil
	}
	doc, err := jsonedit.Parse(text, c.key)
	if err != nil {
		return nil, err
	}
	servers, err := doc.Root().Object(c.key)
	if err != nil {
		return nil, err
	}
	if servers == nil || !servers.Has(name) {
		return text, nil
	}
	servers.Remove(name)
	if !c.form.keyed && servers.Empty() && !slices.Contains(keep, c.key) {
		doc.Root().Remove(c.key)
	}
	return doc.Text(), nil
}

// Print returns the text of a new file with the servers.
func (c Client) Print(servers []Named) (text []byte, err error) {
	for _, n := range servers {
		if text, err = c.Set(text, n.Name, n.Server); err != nil {
			return nil, err
		}
	}
	return text, nil
}

// Named is a server with its name.
type Named struct {
	Name string
	Server
	// Refused is why the client does not use the entry, "" if it does; [Client.Entries] sets it.
	Refused string
	// Others are the names of members that copse neither reads nor writes; [Client.Entries] sets it.
	Others []string
}
