//go:build unix

package git

import "github.com/copse-dev/copse/internal/xec"

// homeDir returns the home directory as git sees it, "" if there is none.
func homeDir(env xec.Env) string { return env.Get("HOME") }
