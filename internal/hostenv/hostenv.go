// Package hostenv lists the variables that an MCP client must pass on to the servers that it
// starts, and cleans those that arrive.
//
// Many clients start servers with a part of their environment. Their configuration can refer to the
// rest, which [Variables] lists. Depending on the client, a reference to a variable that is not set
// arrives as an empty string, or as the reference itself. [Resolved] removes both, so that
// "${GH_TOKEN}" is not sent as a token. Few clients know "~", so [Resolved] also removes relative paths of the
// user's files: in a project, they would name the project's files.
package hostenv

import (
	"path/filepath"
	"slices"
	"strings"
)

// Variables returns the names of the variables that copse, and the programs that it starts, read,
// and that some client withholds.
func Variables() []string {
	return []string{
		"GH_TOKEN", "GITHUB_TOKEN", "GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN", "GH_HOST", "GH_CONFIG_DIR",
		"GITHUB_SERVER_URL", "GITHUB_API_URL",
		"COPSE_ITEMS", "PGHOST", "PGPORT", "PGUSER", "PGPASSWORD", "PGPASSFILE", "PGSERVICE", "PGSERVICEFILE", "PGSSLMODE", "PGSSLROOTCERT",
		"JIRA_HOST", "JIRA_EMAIL", "JIRA_TOKEN", "JIRA_PAT", "NETRC",
		"XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR",
		"SSH_AUTH_SOCK", "GIT_SSH_COMMAND", "GIT_CONFIG_GLOBAL", "GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "DOCKER_HOST", "DOCKER_CERT_PATH",
		"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy",
		"SSL_CERT_FILE", "SSL_CERT_DIR",
	}
}

// places returns the names of the variables with paths of the user's own files, which programs trust.
func places() []string {
	return []string{
		"HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR",
		"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_EXEC_PATH", "GIT_TEMPLATE_DIR", "GNUPGHOME", "GH_CONFIG_DIR", "NETRC", "CURL_HOME", "DOCKER_CONFIG", "DOCKER_CERT_PATH",
		"PGPASSFILE", "PGSERVICEFILE", "PGSYSCONFDIR", "PGSSLROOTCERT", "PGSSLCERT", "PGSSLKEY", "SSL_CERT_FILE", "SSL_CERT_DIR",
	}
}

// Resolved returns an environment, in the form KEY=value, without those of [Variables] that are
// empty or a reference to themselves, and without relative paths of the user's files.
func Resolved(environ []string) []string { return Resolve(environ, func(string) {}) }

// Resolve returns the same as [Resolved], and calls unset with each name that it removes: libraries read the
// environment of the process.
func Resolve(environ []string, unset func(name string)) []string {
	names, places := Variables(), places()
	unresolved := func(kv string) bool {
		name, value, _ := strings.Cut(kv, "=")
		if slices.Contains(places, name) && value != "" && !absolute(name, value) {
			return true
		}
		return (value == "" || strings.ContainsAny(value[:1], "${")) && isReference(name, value) && slices.Contains(names, name)
	}
	if !slices.ContainsFunc(environ, unresolved) {
		return environ
	}
	return slices.DeleteFunc(slices.Clone(environ), func(kv string) bool {
		if !unresolved(kv) {
			return false
		}
		name, _, _ := strings.Cut(kv, "=")
		unset(name)
		return true
	})
}

// absolute reports whether the value of a variable is an absolute path, or for one with several, whether all are.
func absolute(name, value string) bool {
	if name != "SSL_CERT_DIR" {
		return filepath.IsAbs(value)
	}
	return !slices.ContainsFunc(filepath.SplitList(value), func(dir string) bool { return !filepath.IsAbs(dir) })
}

// isReference reports whether a value is empty, or refers to its own variable.
func isReference(name, value string) bool {
	switch value {
	case "", "$" + name, "${" + name + "}", "${env:" + name + "}", "{env:" + name + "}":
		return true
	}
	return false
}
