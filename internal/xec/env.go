package xec

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Env is a complete environment in the form of os.Environ: "KEY=value" each; the last of several
// equal keys is effective.
type Env []string

// Get returns the value of key, "" when it is not set.
func (e Env) Get(key string) string {
	v, _ := e.Lookup(key)
	return v
}

// Lookup returns the value of key, and whether it is set.
func (e Env) Lookup(key string) (string, bool) {
	for _, kv := range slices.Backward(e) {
		if k, v, ok := cut(kv); ok && sameKey(k, key) {
			return v, true
		}
	}
	return "", false
}

// With returns a copy of e in which each key of "KEY=value" pairs has that
// value.
func (e Env) With(pairs ...string) Env {
	keys := make([]string, len(pairs))
	for i, kv := range pairs {
		keys[i], _, _ = cut(kv)
	}
	return append(e.Without(keys...), pairs...)
}

// Without returns a copy of e in which keys are not set.
func (e Env) Without(keys ...string) Env {
	out := make(Env, 0, len(e))
	for _, kv := range e {
		k, _, _ := cut(kv)
		if !slices.ContainsFunc(keys, func(key string) bool { return sameKey(k, key) }) {
			out = append(out, kv)
		}
	}
	return out
}

// skipped is a variable for [Env.LookPath] alone: the directories that [Env.Skip] has removed. No shell can
// set one with this name.
const skipped = "=COPSE_SKIPPED"

// Skip returns e without the entries of PATH for which a function is true, because they are a project's. The
// error of LookPath names a program there.
func (e Env) Skip(projects func(entry string) bool) Env {
	var kept []string
	left := filepath.SplitList(e.Get(skipped))
	entries := filepath.SplitList(e.Get("PATH"))
	for _, entry := range entries {
		if projects(entry) {
			left = append(left, entry)
		} else {
			kept = append(kept, entry)
		}
	}
	if len(kept) == len(entries) {
		return e
	}
	const separator = string(filepath.ListSeparator)
	return e.With("PATH="+strings.Join(kept, separator), skipped+"="+strings.Join(left, separator))
}

// inherited returns the environment of a program, never nil: e, with only the absolute entries of
// its PATH. The program looks up others by the same PATH, and would otherwise use those in its
// working directory.
func (e Env) inherited() Env {
	e = e.Without(skipped)
	path, set := e.Lookup("PATH")
	entries := filepath.SplitList(path)
	absolute := slices.DeleteFunc(slices.Clone(entries), func(dir string) bool { return !filepath.IsAbs(dir) })
	switch {
	case set && len(absolute) == 0: // an empty PATH is the working directory
		return e.Without("PATH")
	case len(absolute) == len(entries):
		return e
	}
	return e.With("PATH=" + strings.Join(absolute, string(filepath.ListSeparator)))
}

// LookPath returns the absolute path of the program name, looked up in e's PATH; a name that is
// already an absolute path is only checked. It skips relative entries of PATH, so it never returns
// a program in the working directory. A missing program is [ErrNotInstalled], and can be a [SkippedError].
func (e Env) LookPath(name string) (string, error) {
	if filepath.IsAbs(name) {
		if p, ok := e.executable(name); ok {
			return p, nil
		}
		return "", ErrNotInstalled
	}
	if name == "" || filepath.Base(name) != name {
		return "", fmt.Errorf("look up %q: neither a plain name nor an absolute path", name)
	}
	if p, ok := e.find(name, "PATH"); ok {
		return p, nil
	}
	if p, ok := e.find(name, skipped); ok {
		return "", &SkippedError{p}
	}
	return "", ErrNotInstalled
}

// find looks a program up in the absolute directories of a list.
func (e Env) find(name, list string) (string, bool) {
	for _, dir := range filepath.SplitList(e.Get(list)) {
		if !filepath.IsAbs(dir) {
			continue
		}
		if p, ok := e.executable(filepath.Join(dir, name)); ok {
			return p, true
		}
	}
	return "", false
}

// neutral returns a directory whose files only the user decides: the home directory, or the root of the
// file system if there is none.
func (e Env) neutral() string {
	for _, name := range []string{"HOME", "USERPROFILE"} {
		dir := e.Get(name)
		if info, err := os.Stat(dir); err == nil && info.IsDir() && filepath.IsAbs(dir) {
			return dir
		}
	}
	return filepath.VolumeName(e.Get("SYSTEMROOT")) + string(filepath.Separator)
}

// cut splits "KEY=value". The key of Windows' "=C:=C:\dir" entries begins with
// the equals sign.
func cut(kv string) (key, value string, ok bool) {
	if i := strings.IndexByte(kv[min(1, len(kv)):], '='); i >= 0 {
		return kv[:i+1], kv[i+2:], true
	}
	return kv, "", false
}
