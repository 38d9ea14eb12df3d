package recipe

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sync"

	"github.com/copse-dev/copse/internal/cachedfile"
)

// maxSource is how much of a file is searched for what it imports.
const maxSource = 4 << 20

var (
	importLine = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?m)^import\??\s+(?:'([^'\n]*)'|"([^"\\\n]*)")\s*(?:#.*)?$`)
	})
	moduleLine = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?m)^mod\??\s+([A-Za-z_][A-Za-z0-9_-]*)(?:\s+(?:'([^'\n]*)'|"([^"\\\n]*)"))?\s*(?:#.*)?$`)
	})
	anyOther = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^(?:import|mod)\b.*$`) })
)

// look collects the files that the justfile at path is made of, also such as would
// count if they were there.
func look(path string) *cachedfile.Group {
	found := &cachedfile.Group{}
	for next := []string{path}; len(next) > 0; next = next[1:] {
		file := next[0]
		if found.Has(file) {
			continue
		}
		if _, err := found.Add(file); err != nil {
			continue
		}
		imports, plain := importsOf(file)
		if !plain {
			found.Doubt()
		}
		next = append(next, imports...)
	}
	return found
}

// importsOf are the files that one names; plain is false if it may name others.
func importsOf(file string) (paths []string, plain bool) {
	f, err := os.Open(file)
	if err != nil {
		return nil, false
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxSource+1))
	if err != nil || len(text) > maxSource {
		return nil, false
	}
	known := 0
	join := func(path []byte) string {
		if filepath.IsAbs(string(path)) {
			return string(path)
		}
		return filepath.Join(filepath.Dir(file), string(path))
	}
	for _, m := range importLine().FindAllSubmatch(text, -1) {
		known++
		paths = append(paths, join(slices.Concat(m[1], m[2])))
	}
	for _, m := range moduleLine().FindAllSubmatch(text, -1) {
		known++
		name, path := string(m[1]), slices.Concat(m[2], m[3])
		if len(path) > 0 {
			at := join(path)
			paths = append(paths, at)
			if info, err := os.Stat(at); err == nil && info.IsDir() {
				return nil, false
			}
			continue
		}
		for _, candidate := range []string{name + ".just", name + "/mod.just", name + "/justfile", name + "/.justfile"} {
			paths = append(paths, join([]byte(candidate)))
		}
	}
	return paths, known == len(anyOther().FindAll(text, -1))
}
