package clientconfig

import (
	"maps"
	"slices"
	"strings"

	"github.com/copse-dev/copse/internal/hostenv"
	"github.com/copse-dev/copse/internal/lazyregexp"
)

// filter describes what a client withholds from the servers that it starts; the zero value passes
// everything on. The behavior of each client was found by running it.
type filter int

const (
	everything filter = iota
	claudeCode
	codex
	gemini
	copilot
	sdkDefault // clients that use the default of the protocol's SDK
)

// listed returns the names that Codex must pass on. It omits those that are not set.
func (f filter) listed() []string {
	if f == codex {
		return hostenv.Variables()
	}
	return nil
}

// references returns variables that refer to those of the same name in the client's own
// environment. One that is not set there arrives empty, or as the reference itself;
// [hostenv.Resolved] removes it.
func (f filter) references() map[string]string {
	switch f {
	case gemini:
		all := make(map[string]string)
		for _, name := range hostenv.Variables() {
			all[name] = "$" + name
		}
		return all
	case copilot:
		return map[string]string{"GITHUB_TOKEN": "${GITHUB_TOKEN}"}
	default:
		return nil
	}
}

// Environ returns the environment of a server that the client starts by an entry, if the client's
// own environment is parent. Both are in the form KEY=value.
func (c Client) Environ(parent []string, s Server) []string {
	own := make(map[string]string, len(parent))
	for _, kv := range parent {
		name, value, _ := strings.Cut(kv, "=")
		own[name] = value
	}
	env := make(map[string]string)
	passes := c.filter.passes(own)
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

// passes returns a function that reports whether a variable is passed on.
func (f filter) passes(own map[string]string) func(name, value string) bool {
	among := func(names ...string) func(string, string) bool {
		return func(name, _ string) bool { return slices.Contains(names, name) }
	}
	switch f {
	case claudeCode:
		if own["CLAUDE_CODE_MCP_ALLOWLIST_ENV"] == "1" {
			return among("HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER")
		}
	case codex:
		return among("HOME", "LANG", "LC_ALL", "LOGNAME", "PATH", "SHELL", "SSL_CERT_FILE", "TERM", "TMPDIR", "TZ", "USER")
	case gemini:
		if own["GITHUB_SHA"] != "" {
			return among("PATH", "HOME", "LANG", "SHELL", "TERM", "COLORTERM", "TMPDIR", "USER", "LOGNAME")
		}
		return func(name, value string) bool {
			return strings.HasPrefix(name, "GIT_CONFIG_") || strings.HasPrefix(name, "GEMINI_CLI_") ||
				!secretName.Get().MatchString(name) && !secretValue.Get().MatchString(value)
		}
	case copilot:
		return func(name, _ string) bool {
			return name != "GITHUB_TOKEN" && !strings.HasPrefix(name, "COPILOT_PROVIDER_")
		}
	case sdkDefault:
		return among("HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER")
	default:
	}
	return func(string, string) bool { return true }
}

// The names and values of variables that Gemini CLI considers secret.
var (
	secretName  = lazyregexp.New(`(?i)TOKEN|SECRET|PASSWORD|PASSWD|KEY|AUTH|CREDENTIAL|CREDS|PRIVATE|CERT`)
	secretValue = lazyregexp.New(`gh[pousr]_[A-Za-z0-9]{20}|github_pat_|^eyJ[A-Za-z0-9_-]+\.|-----BEGIN |://[^/\s:@]+:[^/\s@]+@`)
)
