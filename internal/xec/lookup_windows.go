package xec

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

func sameKey(a, b string) bool { return strings.EqualFold(a, b) }

// executable tries path as it is if it has an extension that PATHEXT lists,
// and else with each of them.
func (e Env) executable(path string) (string, bool) {
	exts := strings.Split(strings.ToLower(cmp.Or(e.Get("PATHEXT"), ".com;.exe;.bat;.cmd")), ";")
	if ext := strings.ToLower(filepath.Ext(path)); ext != "" && slices.Contains(exts, ext) {
		exts = []string{""}
	}
	for _, ext := range exts {
		if fi, err := os.Stat(path + ext); err == nil && fi.Mode().IsRegular() {
			return path + ext, true
		}
	}
	return path, false
}
