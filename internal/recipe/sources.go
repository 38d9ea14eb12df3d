package recipe

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"github.com/copse-dev/copse/internal/cachedfile"
)

// sources are the files that a justfile is made of, as they were when it was read. A
// file that was not there, and would count if it was, is one of them.
type sources map[string]source

type source struct {
	missing   bool
	signature cachedfile.Signature
}

// maxSource is how much of a file is searched for what it imports.
const maxSource = 4 << 20

var (
	importLine = regexp.MustCompile(`(?m)^import\??\s+(?:'([^'\n]*)'|"([^"\\\n]*)")\s*(?:#.*)?$`)
	moduleLine = regexp.MustCompile(`(?m)^mod\??\s+([A-Za-z_][A-Za-z0-9_-]*)(?:\s+(?:'([^'\n]*)'|"([^"\\\n]*)"))?\s*(?:#.*)?$`)
	anyOther   = regexp.MustCompile(`(?m)^(?:import|mod)\b.*$`)
)

// look collects the files that the justfile at path is made of. It is ok if later
// changes of them can be told by their signatures: if what they import is written
// plainly, and their last change is long enough ago.
func look(path string) (found sources, ok bool) {
	found, ok = sources{}, true
	at := time.Now()
	for next := []string{path}; len(next) > 0; next = next[1:] {
		file := next[0]
		if _, done := found[file]; done {
			continue
		}
		info, err := os.Stat(file)
		if errors.Is(err, fs.ErrNotExist) {
			found[file] = source{missing: true}
			continue
		}
		if err != nil || !info.Mode().IsRegular() {
			return found, false
		}
		s := source{signature: cachedfile.SignatureOf(info)}
		found[file] = s
		imports, plain := importsOf(file)
		if !plain || !s.signature.Settled(at) {
			ok = false
		}
		next = append(next, imports...)
	}
	return found, ok
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
	for _, m := range importLine.FindAllSubmatch(text, -1) {
		known++
		paths = append(paths, join(append(m[1], m[2]...)))
	}
	for _, m := range moduleLine.FindAllSubmatch(text, -1) {
		known++
		name, path := string(m[1]), append(m[2], m[3]...)
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
	return paths, known == len(anyOther.FindAll(text, -1))
}

// same reports whether all files are what they were.
func (s sources) same() bool {
	for path, before := range s {
		info, err := os.Stat(path)
		if before.missing {
			if !errors.Is(err, fs.ErrNotExist) {
				return false
			}
			continue
		}
		if err != nil || cachedfile.SignatureOf(info) != before.signature {
			return false
		}
	}
	return true
}
