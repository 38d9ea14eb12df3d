package clientconfig

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/copse-dev/copse/internal/clientconfig/jsonedit"
	"github.com/copse-dev/copse/internal/clientconfig/tomledit"
	"github.com/copse-dev/copse/internal/lazyregexp"
)

// refuses returns why the client does not use an entry, "" if it does. The behavior of Claude Code,
// Codex, Gemini CLI, opencode, and Copilot CLI was found by running them; for Windsurf and Zed it is
// documented.
func (c Client) refuses(e entry) string {
	off := "is disabled, so " + c.Title + " does not use it"
	enabled := e.Enabled.value == nil || *e.Enabled.value
	kind, address := e.Type.value, e.URL != ""
	text := e.Env.wrong || e.Environment.wrong
	switch c.ID {
	case "claude-code":
		switch {
		case !slices.Contains([]string{"", "stdio", "http", "streamable-http", "sse", "ws"}, kind):
			return fmt.Sprintf("has the type %q, which %s does not know", kind, c.Title)
		case e.Command == nil && kind == "":
			return fmt.Sprintf(`has an address and no "type": "http", so %s does not use it`, c.Title)
		case kind != "" && kind != "stdio" && !address:
			return fmt.Sprintf("has the type %q and no url, so %s does not use it", kind, c.Title)
		case text || e.Args.wrong:
			return "has an argument or variable that is not a string, so " + c.Title + " does not use it"
		}
	case "codex", "zed":
		if !enabled {
			return off
		}
	case "windsurf":
		if e.Disabled.value {
			return off
		}
	case "gemini":
		if text {
			return "has a variable that is not a string, so " + c.Title + " does not start it"
		}
	case "opencode":
		switch {
		case kind != "local" && kind != "remote" && !e.onlyEnables():
			return fmt.Sprintf("has the type %q, so %s refuses the file; use local or remote", kind, c.Title)
		case text:
			return "has a variable that is not a string, so " + c.Title + " refuses the file"
		case !enabled || e.Disabled.value:
			return off
		}
	case "copilot":
		switch {
		case e.Disabled.value:
			return off
		case e.Tools.value != nil && len(*e.Tools.value) == 0:
			return "has an empty list of tools, so " + c.Title + " offers none"
		case text:
			return "has a variable that is not a string, so " + c.Title + " does not start it"
		case (kind == "http" || kind == "sse") && !address:
			return fmt.Sprintf("has the type %q and no url, so %s does not use it", kind, c.Title)
		}
	}
	return ""
}

// onlyEnables reports whether an entry only switches one of another file on or off.
func (e entry) onlyEnables() bool {
	return e.Enabled.value != nil && e.Type.value == "" && e.Command == nil && e.URL == ""
}

// Expanded returns an entry as the client reads it: with the references in its command line,
// directory, and address replaced. parent is the client's own environment, in the form KEY=value;
// dir is the project, and home the user's directory. Variables keep their references, which
// [Client.Environ] expands.
func (c Client) Expanded(parent []string, dir, home string, e Named) Named {
	own := make(map[string]string, len(parent))
	for _, kv := range parent {
		name, value, _ := strings.Cut(kv, "=")
		own[name] = value
	}
	own["workspaceFolder"], own["userHome"] = dir, home
	expand := func(text string) string { return c.expand(text, own) }
	e.Command, e.Dir, e.URL, e.Token = expand(e.Command), expand(e.Dir), expand(e.URL), expand(e.Token)
	e.Args = slices.Clone(e.Args)
	for i, arg := range e.Args {
		e.Args[i] = expand(arg)
	}
	return e
}

var (
	dollar  = lazyregexp.New(`\$(?:([A-Za-z_][A-Za-z0-9_]*)|\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\})`)
	braces  = lazyregexp.New(`\{env:([A-Za-z_][A-Za-z0-9_]*)\}`)
	editors = lazyregexp.New(`\$\{(?:env:([A-Za-z_][A-Za-z0-9_]*)|(workspaceFolder|userHome))\}`)
)

// expandVariable returns a value of an entry's variables as the client passes it on.
func (c Client) expandVariable(text string, own map[string]string) string {
	text = c.expand(text, own)
	if c.ID == "gemini" {
		return dollar.Get().ReplaceAllString(text, "") // it expands them again when it starts the server
	}
	return text
}

// expand returns a text of an entry as the client reads it. Variables that are not set stay as they
// are, except in opencode and editors, where they are empty.
func (c Client) expand(text string, own map[string]string) string {
	switch c.ID {
	case "opencode":
		return braces.Get().ReplaceAllStringFunc(text, func(found string) string { return own[braces.Get().FindStringSubmatch(found)[1]] })
	case "vscode", "cursor", "windsurf":
		return editors.Get().ReplaceAllStringFunc(text, func(found string) string {
			m := editors.Get().FindStringSubmatch(found)
			return own[m[1]+m[2]]
		})
	case "claude-code", "gemini", "copilot", "qwen":
	default:
		return text
	}
	return dollar.Get().ReplaceAllStringFunc(text, func(found string) string {
		m := dollar.Get().FindStringSubmatch(found)
		plain := m[1] != ""
		if plain && c.ID == "claude-code" {
			return found
		}
		value, set := own[m[1]+m[2]]
		switch {
		case set:
			return value
		case strings.Contains(found, ":-") && c.ID != "qwen":
			return m[3]
		}
		return found
	})
}

// Trusts reports whether the client reads the file of a project, by the text of the user's file.
// Codex reads none of a project that the user does not trust; the others ask. dirs are the
// project's worktree and main worktree.
func (c Client) Trusts(user []byte, dirs ...string) bool {
	if c.ID != "codex" {
		return true
	}
	projects, err := tomledit.JSON(user, "projects")
	if err != nil {
		return false
	}
	return slices.ContainsFunc(dirs, func(dir string) bool {
		var level string
		_ = json.Unmarshal(member(projects, dir, "trust_level"), &level) // "" if it is none
		return level == "trusted"
	})
}

// Excludes returns a function that returns why a text of the client's configuration switches off the
// entry with a name in a project, "" if it does not. dirs are the project's worktree and main
// worktree. The rules of Claude Code and Gemini CLI were found by running them.
func (c Client) Excludes(text []byte, dirs ...string) func(name string) string {
	none := func(string) string { return "" }
	if c.ID != "claude-code" && c.ID != "gemini" {
		return none
	}
	doc, err := jsonedit.Parse(text, "mcp", "projects")
	if err != nil {
		return none // its entries report it, or the client could use either
	}
	root := json.RawMessage(doc.Root().JSON())
	list := func(path ...string) (names *[]string) {
		_ = json.Unmarshal(member(root, path...), &names) // nil if it is none
		return names
	}
	in := func(names *[]string, name string) bool { return names != nil && slices.Contains(*names, name) }
	if c.ID == "claude-code" {
		var disabled []*[]string
		for _, dir := range dirs {
			disabled = append(disabled, list("projects", dir, "disabledMcpServers"))
		}
		return func(name string) string {
			if slices.ContainsFunc(disabled, func(names *[]string) bool { return in(names, name) }) {
				return "is disabled for this project, so Claude Code does not use it; enable it in /mcp"
			}
			return ""
		}
	}
	excluded, allowed := list("mcp", "excluded"), list("mcp", "allowed")
	return func(name string) string {
		if in(excluded, name) || allowed != nil && !in(allowed, name) {
			return "is blocked by mcp.excluded or mcp.allowed, so Gemini CLI does not use it"
		}
		return ""
	}
}

// member returns the value on a path of names through objects, nil if there is none. encoding/json accepts a
// name in another case for a field of a struct, and a client does not.
func member(data json.RawMessage, path ...string) json.RawMessage {
	for _, name := range path {
		var members map[string]json.RawMessage
		if json.Unmarshal(data, &members) != nil {
			return nil
		}
		data = members[name]
	}
	return data
}
