// Package hostenv lists the variables that an MCP client must pass on to the servers that it
// starts, and cleans those that arrive.
//
// Many clients start servers with a part of their environment. Their configuration can refer to the
// rest, which [Variables] lists. Depending on the client, a reference to a variable that is not set
// arrives as an empty string, or as the reference itself. [Resolved] removes both, so that
// "${GH_TOKEN}" is not sent as a token.
package hostenv

import (
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

// Resolved returns an environment, in the form KEY=value, without those of [Variables] that are
// empty or a reference to themselves.
func Resolved(environ []string) []string {
	names := Variables()
	unresolved := func(kv string) bool {
		name, value, _ := strings.Cut(kv, "=")
		return (value == "" || strings.ContainsAny(value[:1], "${")) && isReference(name, value) && slices.Contains(names, name)
	}
	if !slices.ContainsFunc(environ, unresolved) {
		return environ
	}
	return slices.DeleteFunc(slices.Clone(environ), unresolved)
}

// isReference reports whether a value is empty, or refers to its own variable.
func isReference(name, value string) bool {
	switch value {
	case "", "$" + name, "${" + name + "}", "${env:" + name + "}", "{env:" + name + "}":
		return true
	}
	return false
}
