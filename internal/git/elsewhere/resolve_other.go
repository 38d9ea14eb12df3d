//go:build !unix

package elsewhere

import "path/filepath"

// resolve returns a path without links.
func resolve(path string) (string, error) { return filepath.EvalSymlinks(path) }
