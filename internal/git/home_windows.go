package git

import "github.com/copse-dev/copse/internal/xec"

// homeDir returns the home directory as git sees it, "" if there is none.
func homeDir(env xec.Env) string {
	if home := env.Get("HOME"); home != "" {
		return home
	}
	if home := env.Get("HOMEDRIVE") + env.Get("HOMEPATH"); home != "" {
		return home
	}
	return env.Get("USERPROFILE")
}
