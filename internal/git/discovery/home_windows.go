package discovery

import "github.com/copse-dev/copse/internal/xec"

// HomeDir returns the home directory as git sees it, "" if there is none.
func HomeDir(env xec.Env) string {
	if home := env.Get("HOME"); home != "" {
		return home
	}
	if home := env.Get("HOMEDRIVE") + env.Get("HOMEPATH"); home != "" {
		return home
	}
	return env.Get("USERPROFILE")
}
