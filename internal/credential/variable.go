package credential

import (
	"net/url"
	"slices"
	"strings"

	"github.com/copse-dev/copse/internal/distinct"
	"github.com/copse-dev/copse/internal/lazyregexp"
	"github.com/copse-dev/copse/internal/secret"
	"github.com/copse-dev/copse/internal/secret/setting"
)

// Secrets returns the environment variables that are secrets as a whole. A Jira token is one with
// its login.
func Secrets() []string {
	return []string{"GH_TOKEN", "GITHUB_TOKEN", "GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN", "JIRA_PAT", "PGPASSWORD", "PGSSLPASSWORD", "SSHPASS"}
}

// Commands returns the environment variables with commands with which git logs in.
func Commands() []string { return []string{"GIT_SSH_COMMAND", "GIT_ASKPASS", "GIT_PROXY_COMMAND"} }

// Address reports whether an environment variable contains an address that copse or another program uses, which can
// contain a login: that of a service or a proxy.
func Address(name string) bool {
	name = strings.ToUpper(name)
	switch name {
	case "COPSE_ITEMS", "GITHUB_API_URL", "GITHUB_SERVER_URL", "JIRA_HOST", "DOCKER_HOST":
		return true
	}
	return strings.HasSuffix(name, "_PROXY") && name != "NO_PROXY"
}

// Variable reports whether an environment variable contains a login that copse may use, or leads to
// one. Programs that somebody else chose to run do not get it.
func Variable(name string) bool {
	name = strings.ToUpper(name) // Windows has them in any case
	switch {
	case slices.Contains(Secrets(), name), name == "NETRC", name == "COPSE_ITEMS", name == "PGPASSFILE", name == "GIT_CONFIG_PARAMETERS":
		return true
	}
	return strings.HasPrefix(name, "JIRA_") || strings.HasPrefix(name, "COPSE_") && strings.HasSuffix(name, "TOKEN")
}

// names matches the name of a variable.
var names = lazyregexp.New(`\b(?:[A-Z][A-Z0-9_]*|[a-z_]+_proxy)\b`)

// Named returns the variables with logins that a text names, each once.
func Named(text string) []string {
	var found distinct.List[string]
	for _, name := range names.Get().FindAllString(text, -1) {
		if Variable(name) || Address(name) || slices.Contains(Commands(), name) {
			found.Add(name)
		}
	}
	return found.Values()
}

// Withheld explains that a failed recipe names variables that the user has and that its environment, given, has
// without their credentials, or not at all; "" if there are none.
func Withheld(users, given, names []string) string {
	var lacking distinct.List[string]
	for _, name := range names {
		if !lacking.Has("$"+name) && slices.ContainsFunc(users, func(kv string) bool { return strings.HasPrefix(kv, name+"=") && !slices.Contains(given, kv) }) {
			lacking.Add("$" + name)
		}
	}
	if lacking.Len() == 0 {
		return ""
	}
	return "recipes that an assistant starts do not get the credentials in " + strings.Join(slices.Sorted(slices.Values(lacking.Values())), ", ") +
		"; set tasks.pass_credentials in the user's settings to pass credentials on, or run `copse task run` in a terminal"
}

// Public returns an environment for programs that somebody else chose to run: without the variables that contain a
// login, without the login of an address, and without the settings and the commands of git that contain one.
func Public(env []string) []string {
	settings := make(map[string]string)
	for _, kv := range env {
		if name, value, _ := strings.Cut(kv, "="); strings.HasPrefix(strings.ToUpper(name), "GIT_CONFIG_") {
			settings[strings.ToUpper(name)] = value
		}
	}
	public := make([]string, 0, len(env))
	for _, kv := range env {
		name, value, _ := strings.Cut(kv, "=")
		upper := strings.ToUpper(name)
		value, ok := withoutLogin(upper, value)
		switch n, isKey := strings.CutPrefix(upper, "GIT_CONFIG_KEY_"); {
		case isKey && private(settings, n):
			value = "copse.withheld" // git counts the settings, so this one stays
		case !isKey:
			if n, isValue := strings.CutPrefix(upper, "GIT_CONFIG_VALUE_"); isValue && private(settings, n) {
				value = ""
			}
		}
		if ok {
			public = append(public, name+"="+value)
		}
	}
	return public
}

// private reports whether the setting of git with a number contains a secret.
func private(settings map[string]string, n string) bool {
	return reveals(settings["GIT_CONFIG_KEY_"+n], settings["GIT_CONFIG_VALUE_"+n])
}

// reveals reports whether a setting of git contains a secret.
func reveals(key, value string) (found bool) {
	setting.In(key, value, secret.InURL, func(login, password string) {
		found = found || password != "" || secret.IsToken(login, password)
	})
	return found
}

// tokenInPath reports whether a part of an address's path is as long as a token. A path of files is none.
func tokenInPath(address string) bool {
	scheme, rest, ok := strings.Cut(address, "://")
	if !ok {
		rest = address
	}
	if scheme == "unix" || scheme == "npipe" {
		return false
	}
	_, path, _ := strings.Cut(rest, "/")
	return slices.ContainsFunc(strings.Split(path, "/"), func(part string) bool { return secret.IsToken(part, "") })
}

// withoutLogin returns the value of a variable without the login of an address, and false if nothing is left of it.
func withoutLogin(name, value string) (string, bool) {
	const secrets = "@?#;=" // a query, a fragment, a parameter, or a login in an unknown place
	switch {
	case Variable(name):
		return "", false
	case slices.Contains(Commands(), name):
		return value, !reveals(name, value)
	case !Address(name):
		return value, true
	case tokenInPath(value):
		return "", false
	case !strings.ContainsAny(value, secrets):
		return value, true
	}
	address := value
	if !strings.Contains(value, "://") {
		address = "http://" + value // a proxy
	}
	u, err := url.Parse(address)
	if err != nil || u.User == nil {
		return "", false // it cannot be cleaned
	}
	u.User = nil
	address = u.String()
	return address, !strings.ContainsAny(address, secrets)
}
