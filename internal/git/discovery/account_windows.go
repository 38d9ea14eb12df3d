package discovery

import "github.com/copse-dev/copse/internal/xec"

// ownedByAccount returns true: the git program looks at the owners of files itself.
func ownedByAccount(string, xec.Env) bool { return true }
