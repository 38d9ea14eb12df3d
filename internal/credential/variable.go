package credential

import "strings"

// Variable reports whether an environment variable contains a login that copse may use, or leads to
// one. Programs that somebody else chose to run do not get it.
func Variable(name string) bool {
	name = strings.ToUpper(name) // Windows has them in any case
	switch name {
	case "GH_TOKEN", "GITHUB_TOKEN", "GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN", "NETRC", "COPSE_ITEMS", "PGPASSWORD", "PGPASSFILE":
		return true
	}
	return strings.HasPrefix(name, "JIRA_") || strings.HasPrefix(name, "COPSE_") && strings.HasSuffix(name, "TOKEN")
}
