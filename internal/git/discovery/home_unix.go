//go:build unix

package discovery

import "github.com/copse-dev/copse/internal/xec"

// HomeDir returns the home directory as git sees it, "" if there is none.
func HomeDir(env xec.Env) string { return env.Get("HOME") }
