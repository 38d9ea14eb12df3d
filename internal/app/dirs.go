package app

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"strconv"

	"github.com/copse-dev/copse/internal/settings"
	"github.com/copse-dev/copse/internal/xec"
)

// Program returns the path of the program's file, for the configuration of a client or a service. If
// the PATH contains the program, Program returns its path there: an update with Homebrew keeps the
// link on the PATH, and removes the file that it named.
func (e Env) Program() (string, error) {
	if e.Executable == "" {
		return "", errors.New("the path of this program is not known; start it by its full path")
	}
	if found, err := xec.Env(e.Environ).LookPath("copse"); err == nil && sameFile(found, e.Executable) {
		return found, nil
	}
	return e.Executable, nil
}

// sameFile reports whether two paths name one file.
func sameFile(a, b string) bool {
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	other, err := os.Stat(b)
	return err == nil && os.SameFile(one, other)
}

// StateDir returns the directory, by name, for state that is kept between runs; "" if the
// environment names no place for it.
func (e Env) StateDir(name string) string {
	return e.dir(name, "LOCALAPPDATA", "state", "Application Support", "XDG_STATE_HOME", ".local/state")
}

// ConfigDir returns the directory for the user's choices; "" if the environment names no place for
// it.
func (e Env) ConfigDir() string {
	return e.dir("", "APPDATA", "", "Application Support", "XDG_CONFIG_HOME", ".config")
}

func (e Env) cacheDir(name string) string {
	return e.dir(name, "LOCALAPPDATA", "cache", "Caches", "XDG_CACHE_HOME", ".cache")
}

// dir returns a directory by name: on Windows below a kind of copse's directory in that of a variable,
// on macOS in one of the library, and elsewhere in that of a variable, or one of the home directory.
func (e Env) dir(name, windows, kind, library, variable, home string) string {
	switch e.GOOS {
	case "windows":
		return joinAbs(e.Getenv(windows), "copse", kind, name)
	case "darwin":
		return joinAbs(e.Home(), "Library", library, "copse", name)
	}
	return cmp.Or(joinAbs(e.Getenv(variable), "copse", name), joinAbs(e.Home(), home, "copse", name))
}

// CacheDir returns the directory for answers of services; "" if the environment names no
// place for it.
func (e Env) CacheDir() string { return e.cacheDir("http") }

// ConflictsDir returns the directory for the results of tried merges; "" if the
// environment names no place for it.
func (e Env) ConflictsDir() string { return e.cacheDir("conflicts") }

// PullsDir returns the directory for the lists of open pull requests; "" if the environment
// names no place for it.
func (e Env) PullsDir() string { return e.cacheDir("pulls") }

// TurnsDir returns the directory for the locks and notes of processes that take turns to ask
// services; "" if the environment names no place for it.
func (e Env) TurnsDir() string { return e.cacheDir("turns") }

// ItemsCacheDir returns the directory for the cache of large stores of items; "" if the environment
// names no place for it.
func (e Env) ItemsCacheDir() string { return e.cacheDir("items") }

// SettingsFile returns the path of the user's settings; "" if the environment names no
// place for them.
func (e Env) SettingsFile() string { return joinAbs(e.ConfigDir(), settings.UserName) }

// RuntimeDir returns the directory for files that end with the processes of the user: the socket of
// "copse up" and the presence of servers.
func (e Env) RuntimeDir() string { return runtimeDir(e, os.Getuid(), private) }

// runtimeDir returns the directory of the socket. It is the same for programs that start without
// the XDG_ variables, as under some MCP clients: without XDG_RUNTIME_DIR, it is the directory to
// which systemd sets that variable. If there is no such directory, it is in /tmp, whatever TMPDIR
// says, and callers check its owner before they trust its content. Its path is short, because a
// socket requires that. macOS and Windows have no runtime directory; there, it is among the user's
// own files.
func runtimeDir(env Env, uid int, private func(path string, uid int) bool) string {
	if dir := env.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "copse")
	}
	if env.GOOS == "darwin" || env.GOOS == "windows" {
		return env.StateDir("run")
	}
	if dir := filepath.Join("/run/user", strconv.Itoa(uid)); private(dir, uid) {
		return filepath.Join(dir, "copse")
	}
	return filepath.Join("/tmp", "copse-"+strconv.Itoa(uid))
}

// joinAbs returns "" unless base is an absolute path.
func joinAbs(base string, parts ...string) string {
	if !filepath.IsAbs(base) {
		return ""
	}
	return filepath.Join(append([]string{base}, parts...)...)
}
