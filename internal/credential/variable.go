package credential

import (
	"net/url"
	"slices"
	"strings"
)

// Secrets returns the environment variables that are secrets as a whole. A Jira token is one with
// its login.
func Secrets() []string {
	return []string{"GH_TOKEN", "GITHUB_TOKEN", "GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN", "JIRA_PAT", "PGPASSWORD", "PGSSLPASSWORD"}
}

// Addresses returns the environment variables with addresses that copse uses, which can contain a
// login.
func Addresses() []string {
	return []string{
		"COPSE_ITEMS", "GITHUB_API_URL", "GITHUB_SERVER_URL", "JIRA_HOST", "DOCKER_HOST",
		"HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy",
	}
}

// Variable reports whether an environment variable contains a login that copse may use, or leads to
// one. Programs that somebody else chose to run do not get it.
func Variable(name string) bool {
	name = strings.ToUpper(name) // Windows has them in any case
	switch {
	case slices.Contains(Secrets(), name), name == "NETRC", name == "COPSE_ITEMS", name == "PGPASSFILE":
		return true
	}
	return strings.HasPrefix(name, "JIRA_") || strings.HasPrefix(name, "COPSE_") && strings.HasSuffix(name, "TOKEN")
}

// Public returns the variable NAME=value for programs that somebody else chose to run: without the
// login of an address, and false if nothing is left of it.
func Public(variable string) (string, bool) {
	name, value, _ := strings.Cut(variable, "=")
	switch {
	case Variable(name):
		return "", false
	case !slices.ContainsFunc(Addresses(), func(address string) bool { return strings.EqualFold(address, name) }), !strings.ContainsAny(value, "@?"):
		return variable, true
	}
	address := value
	if !strings.Contains(value, "://") {
		address = "http://" + value // a proxy
	}
	u, err := url.Parse(address)
	if err != nil || u.User == nil || u.RawQuery != "" {
		return "", false // it cannot be cleaned
	}
	u.User = nil
	return name + "=" + u.String(), true
}
