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
// This package reads and writes only texts; the caller handles the files.
package clientconfig

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
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

// Scope is the owner of the configuration.
type Scope string

// The scopes.
const (
	User    Scope = "user"
	Project Scope = "project"
)

// Client is a program that uses MCP servers.
type Client struct {
	// ID is its name in commands, Title in sentences.
	ID, Title string

	toml    bool
	key     string // of the entries in the file
	user    map[string][]string
	project []string
	form    form
	// filter describes what the client withholds from the servers that it starts.
	filter filter
}

// form describes how a client writes entries.
type form struct {
	typed   bool   // with the kind of server
	urlKey  string // "" if it does not support HTTP
	command bool   // command and arguments are one list
	env     string // the key of variables, "" for env
	dir     bool   // it reads cwd
	tools   bool   // it has a list of tools to offer
	keyed   bool   // it refuses a file without the object of servers
}

// Location says where a user's files are.
type Location struct {
	GOOS, Home string
	// AppData is %APPDATA%, ConfigHome $XDG_CONFIG_HOME; "" is the default.
	AppData, ConfigHome string
	// Getenv returns the variables with which users move clients' files; nil for none.
	Getenv func(name string) string
	// Dir is the directory of the project. Main is that of its main worktree, if Dir is a linked
	// one.
	Dir, Main string
}

// parts of paths that depend on the place.
const (
	home    = "~"
	config  = "$config"  // ~/.config
	appData = "$appdata" // %APPDATA%
	support = "$support" // ~/Library/Application Support

	// These are a directory below the home directory, unless the client's own variable names
	// another.
	claudeFile = "$claude-file" // ~
	claudeDir  = "$claude"      // ~/.claude
	codexDir   = "$codex"       // ~/.codex
	geminiHome = "$gemini"      // ~
	copilotDir = "$copilot"     // ~/.copilot
	qwenDir    = "$qwen"        // ~/.qwen
)

// moved are the variables with which users move the files of clients. opencode has one, too, but
// reads its usual file in addition.
var moved = map[string]struct {
	variable string
	parts    []string // the location without the variable
}{
	claudeFile: {"CLAUDE_CONFIG_DIR", []string{home}},
	claudeDir:  {"CLAUDE_CONFIG_DIR", []string{home, ".claude"}},
	codexDir:   {"CODEX_HOME", []string{home, ".codex"}},
	geminiHome: {"GEMINI_CLI_HOME", []string{home}},
	copilotDir: {"COPILOT_HOME", []string{home, ".copilot"}},
	qwenDir:    {"QWEN_HOME", []string{home, ".qwen"}},
}

// resolve returns the path of parts, the first of which depends on the location. The error names
// what a client cannot be found without.
func (p Location) resolve(title string, parts []string) (string, error) {
	if m, ok := moved[parts[0]]; ok {
		if p.Getenv != nil {
			if dir := p.Getenv(m.variable); filepath.IsAbs(dir) {
				return filepath.Join(append([]string{dir}, parts[1:]...)...), nil
			} else if dir != "" {
				return "", fmt.Errorf("%s is %q, which names another directory wherever %s starts; use an absolute path", m.variable, dir, title)
			}
		}
		return p.resolve(title, slices.Concat(m.parts, parts[1:]))
	}
	base := map[string]string{
		home: p.Home, support: join(p.Home, "Library", "Application Support"), config: p.ConfigHome, appData: p.AppData,
	}
	if base[config] == "" {
		base[config] = join(p.Home, ".config")
	}
	if base[appData] == "" {
		base[appData] = join(p.Home, "AppData", "Roaming")
	}
	if !filepath.IsAbs(base[parts[0]]) {
		return "", fmt.Errorf("the environment names no home directory, where %s has its configuration; set HOME", title)
	}
	return filepath.Join(append([]string{base[parts[0]]}, parts[1:]...)...), nil
}

// everywhere returns a path that is the same on all systems.
func everywhere(parts ...string) map[string][]string { return map[string][]string{"": parts} }

// clients returns all known clients.
func clients() []Client {
	typed, plain := form{typed: true, urlKey: "url"}, form{urlKey: "url"}
	return []Client{
		{ID: "claude-code", Title: "Claude Code", key: "mcpServers", user: everywhere(claudeFile, ".claude.json"), project: []string{".mcp.json"}, form: typed, filter: claudeCode},
		{
			ID: "claude-desktop", Title: "Claude Desktop", key: "mcpServers", form: form{}, filter: sdkDefault,
			user: map[string][]string{
				"darwin": {support, "Claude", "claude_desktop_config.json"}, "windows": {appData, "Claude", "claude_desktop_config.json"},
				"": {config, "Claude", "claude_desktop_config.json"},
			},
		},
		{
			ID: "vscode", Title: "VS Code", key: "servers", project: []string{".vscode", "mcp.json"}, form: typed,
			user: map[string][]string{
				"darwin": {support, "Code", "User", "mcp.json"}, "windows": {appData, "Code", "User", "mcp.json"}, "": {config, "Code", "User", "mcp.json"},
			},
		},
		{ID: "cursor", Title: "Cursor", key: "mcpServers", user: everywhere(home, ".cursor", "mcp.json"), project: []string{".cursor", "mcp.json"}, form: plain},
		{
			ID: "codex", Title: "Codex", toml: true, key: "mcp_servers", user: everywhere(codexDir, "config.toml"),
			project: []string{".codex", "config.toml"}, form: form{urlKey: "url", dir: true}, filter: codex,
		},
		{
			ID: "gemini", Title: "Gemini CLI", key: "mcpServers", user: everywhere(geminiHome, ".gemini", "settings.json"),
			project: []string{".gemini", "settings.json"}, form: form{urlKey: "httpUrl", dir: true}, filter: gemini,
		},
		{
			ID: "opencode", Title: "opencode", key: "mcp", user: everywhere(config, "opencode", "opencode.json"), project: []string{"opencode.json"},
			form: form{typed: true, urlKey: "url", command: true, env: "environment", dir: true},
		},
		{ID: "windsurf", Title: "Windsurf", key: "mcpServers", user: everywhere(home, ".codeium", "windsurf", "mcp_config.json"), form: form{urlKey: "serverUrl"}},
		{
			ID: "zed", Title: "Zed", key: "context_servers", project: []string{".zed", "settings.json"}, form: plain,
			user: map[string][]string{"windows": {appData, "Zed", "settings.json"}, "": {config, "zed", "settings.json"}},
		},
		{
			// It reads the project's file of Claude Code, too.
			ID: "copilot", Title: "Copilot CLI", key: "mcpServers", user: everywhere(copilotDir, "mcp-config.json"), project: []string{".mcp.json"},
			form: form{typed: true, urlKey: "url", tools: true, keyed: true}, filter: copilot,
		},
		{
			ID: "qwen", Title: "Qwen Code", key: "mcpServers", user: everywhere(qwenDir, "settings.json"), project: []string{".qwen", "settings.json"},
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
		return fmt.Sprintf("unknown client %q; did you mean %s? Known are %s", e.ID, near, strings.Join(IDs(), ", "))
	}
	return fmt.Sprintf("unknown client %q; known are %s", e.ID, strings.Join(IDs(), ", "))
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
func (c Client) Path(scope Scope, p Location) (string, error) {
	if scope == Project {
		if c.project == nil {
			return "", fmt.Errorf("%s has no configuration for a project; use the user's", c.Title)
		}
		return filepath.Join(append([]string{p.Dir}, c.project...)...), nil
	}
	parts, ok := c.user[p.GOOS]
	if !ok {
		parts = c.user[""]
	}
	return p.resolve(c.Title, parts)
}

func join(base string, parts ...string) string {
	if base == "" {
		return ""
	}
	return filepath.Join(append([]string{base}, parts...)...)
}

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
// that name keeps a person's additions.
func (c Client) Set(text []byte, name string, s Server) ([]byte, error) {
	if s.URL != "" {
		if err := c.CheckHTTP(); err != nil {
			return nil, err
		}
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
	edit := c.edit(s, before)
	if c.toml {
		return setTOML(text, c.key, name, edit)
	}
	return setJSON(text, c.key, name, edit)
}

// Remove returns text without the entry of that name; the same if there is none.
func (c Client) Remove(text []byte, name string) ([]byte, error) {
	if c.toml {
		return removeTOML(text, c.key, name)
	}
	return removeJSON(text, c.key, name, c.form.keyed)
}

// Print returns the text of a new file with the servers.
func (c Client) Print(servers []Named) ([]byte, error) {
	var text []byte
	for _, n := range servers {
		var err error
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
}
