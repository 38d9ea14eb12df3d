// Package passing describes which variables of its environment each MCP client passes on to the servers that it
// starts. The behavior of each client was found by running it.
package passing

import (
	"slices"
	"strings"

	"github.com/copse-dev/copse/internal/hostenv"
	"github.com/copse-dev/copse/internal/lazyregexp"
)

// Filter describes what a client withholds from the servers that it starts; the zero value passes
// everything on.
type Filter int

// The filters of clients.
const (
	Everything Filter = iota
	ClaudeCode
	Codex
	Gemini
	Copilot
	SDKDefault // clients that use the default of the protocol's SDK
)

// Listed returns the names that Codex must pass on. It omits those that are not set.
func (f Filter) Listed() []string {
	if f == Codex {
		return hostenv.Variables()
	}
	return nil
}

// References returns variables that refer to those of the same name in the client's own
// environment. One that is not set there arrives empty, or as the reference itself;
// [hostenv.Resolved] removes it.
func (f Filter) References() map[string]string {
	switch f {
	case Gemini:
		all := make(map[string]string)
		for _, name := range hostenv.Variables() {
			all[name] = "$" + name
		}
		return all
	case Copilot:
		return map[string]string{"GITHUB_TOKEN": "${GITHUB_TOKEN}"}
	default:
		return nil
	}
}

// Passes returns a function that, for the variables of the client itself, reports whether a variable is passed on.
func (f Filter) Passes(own map[string]string) func(name, value string) bool {
	among := func(names ...string) func(string, string) bool {
		return func(name, _ string) bool { return slices.Contains(names, name) }
	}
	switch f {
	case ClaudeCode:
		if own["CLAUDE_CODE_MCP_ALLOWLIST_ENV"] == "1" {
			return among("HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER")
		}
	case Codex:
		return among("HOME", "LANG", "LC_ALL", "LOGNAME", "PATH", "SHELL", "SSL_CERT_FILE", "TERM", "TMPDIR", "TZ", "USER")
	case Gemini:
		if own["GITHUB_SHA"] != "" {
			return among("PATH", "HOME", "LANG", "SHELL", "TERM", "COLORTERM", "TMPDIR", "USER", "LOGNAME")
		}
		return func(name, value string) bool {
			return strings.HasPrefix(name, "GIT_CONFIG_") || strings.HasPrefix(name, "GEMINI_CLI_") ||
				!secretName.Get().MatchString(name) && !secretValue.Get().MatchString(value)
		}
	case Copilot:
		return func(name, _ string) bool {
			return name != "GITHUB_TOKEN" && !strings.HasPrefix(name, "COPILOT_PROVIDER_")
		}
	case SDKDefault:
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
