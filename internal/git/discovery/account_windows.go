package discovery

import "github.com/copse-dev/copse/internal/xec"

// ownedHere returns true: the git program looks at the owners of files itself.
func ownedHere(string, xec.Env) bool { return true }
