// Package clientfile finds the files in which MCP clients keep their configuration: in the user's
// directories, which differ between systems and which users move with variables, and in projects.
package clientfile

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
)

// Scope is the owner of a configuration.
type Scope string

// The scopes.
const (
	User    Scope = "user"
	Project Scope = "project"
)

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

// Path contains the parts of a path. The first one is a base.
type Path []string

// The bases of paths.
const (
	Home    = "~"
	Config  = "$config"  // ~/.config
	AppData = "$appdata" // %APPDATA%
	Support = "$support" // ~/Library/Application Support

	// These are a directory below the home directory, unless the client's own variable names
	// another.
	ClaudeFile = "$claude-file" // ~
	ClaudeDir  = "$claude"      // ~/.claude
	CodexDir   = "$codex"       // ~/.codex
	GeminiHome = "$gemini"      // ~
	CopilotDir = "$copilot"     // ~/.copilot
	QwenDir    = "$qwen"        // ~/.qwen

	// These are a directory and a file that only opencode's own variables name, and that it reads in
	// addition to the usual ones.
	OpencodeDir  = "$opencode"
	OpencodeFile = "$opencode-file"
)

// moved returns the variable with which users move a file of a client, "" for none, and the usual
// place, nil for none.
func moved(part string) (variable string, usual Path) {
	switch part {
	case ClaudeFile:
		return "CLAUDE_CONFIG_DIR", Path{Home}
	case ClaudeDir:
		return "CLAUDE_CONFIG_DIR", Path{Home, ".claude"}
	case CodexDir:
		return "CODEX_HOME", Path{Home, ".codex"}
	case GeminiHome:
		return "GEMINI_CLI_HOME", Path{Home}
	case CopilotDir:
		return "COPILOT_HOME", Path{Home, ".copilot"}
	case QwenDir:
		return "QWEN_HOME", Path{Home, ".qwen"}
	case OpencodeDir:
		return "OPENCODE_CONFIG_DIR", nil
	case OpencodeFile:
		return "OPENCODE_CONFIG", nil
	}
	return "", nil
}

// Resolve returns the path on this machine, "" if only a variable names it, which is not set. The error says which variable or directory is missing to
// find the configuration of the client with this title.
func (l Location) Resolve(title string, p Path) (string, error) {
	if variable, usual := moved(p[0]); variable != "" {
		if l.Getenv != nil {
			if dir := l.Getenv(variable); filepath.IsAbs(dir) {
				return p.below(dir), nil
			} else if dir != "" {
				return "", fmt.Errorf("%s is %q, which depends on the directory where %s starts; use an absolute path", variable, dir, title)
			}
		}
		if usual == nil {
			return "", nil
		}
		return l.Resolve(title, slices.Concat(usual, p[1:]))
	}
	base := l.Home
	switch p[0] {
	case Config:
		base = cmp.Or(l.ConfigHome, filepath.Join(l.Home, ".config"))
	case AppData:
		base = cmp.Or(l.AppData, filepath.Join(l.Home, "AppData", "Roaming"))
	case Support:
		base = filepath.Join(l.Home, "Library", "Application Support")
	}
	if !filepath.IsAbs(base) {
		return "", fmt.Errorf("the environment names no home directory, which contains the configuration of %s; set HOME", title)
	}
	return p.below(base), nil
}

// Resolvable returns the paths on this machine of those files that have one.
func (l Location) Resolvable(files []Path) []string {
	var all []string
	for _, f := range files {
		if path, err := l.Resolve("", f); err == nil && path != "" {
			all = append(all, path)
		}
	}
	return all
}

// InProject returns a path below the directory of the project.
func (l Location) InProject(parts []string) string {
	return filepath.Join(append([]string{l.Dir}, parts...)...)
}

// below returns the path with another base.
func (p Path) below(base string) string { return filepath.Join(append([]string{base}, p[1:]...)...) }
