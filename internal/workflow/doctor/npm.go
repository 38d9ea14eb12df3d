package doctor

import (
	"path/filepath"
	"strings"
)

// npmScope is the directory of copse's npm packages below node_modules.
const npmScope = "@copse-dev"

// launches reports whether the file found is the launcher of the npm package that contains the
// program self. npm installs the launcher and the program as two packages, so the PATH has only the
// launcher: a link to it, or on Windows a script next to node_modules.
func launches(found, self string) bool {
	var scopes []string
	dir := filepath.Dir(found)
	switch filepath.Base(found) {
	case "copse.js": // @copse-dev/copse/bin/copse.js
		scopes = []string{filepath.Dir(filepath.Dir(dir))}
	case "copse.cmd":
		scopes = []string{filepath.Join(dir, "node_modules", npmScope), filepath.Join(filepath.Dir(dir), npmScope)}
	}
	for _, scope := range scopes {
		if filepath.Base(scope) == npmScope && strings.HasPrefix(self, scope+string(filepath.Separator)) {
			return true
		}
	}
	return false
}
