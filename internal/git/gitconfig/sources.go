package gitconfig

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// ErrNeedsGit says that only the git program can tell what is configured.
var ErrNeedsGit = errors.New("configuration that only the git program can read")

// Sources says where configuration comes from.
type Sources struct {
	// Lookup reads the environment: GIT_CONFIG_SYSTEM, GIT_CONFIG_NOSYSTEM,
	// GIT_CONFIG_GLOBAL, XDG_CONFIG_HOME, GIT_CONFIG_COUNT and its keys and
	// values.
	Lookup func(key string) (string, bool)
	// Home is the home folder; empty if there is none.
	Home string
	// System is the system-wide file, unless the environment names another.
	System string
	// CommonDir is the repository's folder with the file "config".
	CommonDir string
	// GitDir is the folder of this worktree, with the file "config.worktree",
	// and what includeIf "gitdir:" is about. GitDirAlias is another name of the
	// same folder, over symbolic links, by which it was reached; empty if none.
	GitDir, GitDirAlias string
	// Worktree says that "config.worktree" counts.
	Worktree bool
	// Branch returns the current branch for includeIf "onbranch:", "" if there
	// is none.
	Branch func() string
	// Reading, if set, is called with the path of each file before it is read, whether
	// there is one or not.
	Reading func(path string)
}

// Load reads everything, in git's order: system, global, repository, worktree,
// environment. A file that does not exist is as good as an empty one. The
// error is [ErrNeedsGit], or says which file cannot be read and why.
func Load(s Sources) (Config, error) {
	l := loader{Sources: s}
	if skip, err := l.noSystem(); err != nil {
		return nil, err
	} else if !skip {
		path, set := s.Lookup("GIT_CONFIG_SYSTEM")
		if !set {
			path = s.System
		}
		if err := l.file(path, false); err != nil {
			return nil, err
		}
	}
	for _, path := range s.global() {
		if err := l.file(path, true); err != nil {
			return nil, err
		}
	}
	if err := l.file(filepath.Join(s.CommonDir, "config"), false); err != nil {
		return nil, err
	}
	if s.Worktree {
		if err := l.file(filepath.Join(s.GitDir, "config.worktree"), false); err != nil {
			return nil, err
		}
	}
	if err := l.environment(); err != nil {
		return nil, err
	}
	return l.cfg, nil
}

func (s Sources) noSystem() (bool, error) {
	v, set := s.Lookup("GIT_CONFIG_NOSYSTEM")
	if !set {
		return false, nil
	}
	skip, ok := parseBool(v)
	if !ok {
		return false, fmt.Errorf("read GIT_CONFIG_NOSYSTEM: %q is neither true nor false", v)
	}
	return skip, nil
}

// global returns the files of the user, lowest first.
func (s Sources) global() []string {
	if path, set := s.Lookup("GIT_CONFIG_GLOBAL"); set {
		return []string{path}
	}
	var files []string
	if xdg, _ := s.Lookup("XDG_CONFIG_HOME"); xdg != "" {
		files = append(files, filepath.Join(xdg, "git", "config"))
	} else if s.Home != "" {
		files = append(files, filepath.Join(s.Home, ".config", "git", "config"))
	}
	if s.Home != "" {
		files = append(files, filepath.Join(s.Home, ".gitconfig"))
	}
	return files
}

// loader collects what is set.
type loader struct {
	Sources
	cfg   Config
	depth int
}

// file adds what path sets and includes. Git reads on without a file of the
// user that it may not read.
func (l *loader) file(path string, skipForbidden bool) error {
	if path == "" {
		return nil
	}
	if l.Reading != nil {
		l.Reading(path)
	}
	text, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR),
		skipForbidden && errors.Is(err, fs.ErrPermission):
		return nil
	case err != nil:
		return fmt.Errorf("read git configuration: %w", err)
	}
	entries, err := Parse(text)
	if err != nil {
		return fmt.Errorf("read git configuration %q: %w", path, err)
	}
	for _, e := range entries {
		if err := l.entry(e, path); err != nil {
			return err
		}
	}
	return nil
}

// environment adds what GIT_CONFIG_COUNT announces.
func (l *loader) environment() error {
	v, _ := l.Lookup("GIT_CONFIG_COUNT")
	if v == "" {
		return nil
	}
	count, err := strconv.ParseInt(v, 10, 32)
	if err != nil || count < 0 {
		return fmt.Errorf("read GIT_CONFIG_COUNT: %q is not a count", v)
	}
	for i := range count {
		n := strconv.FormatInt(i, 10)
		key, hasKey := l.Lookup("GIT_CONFIG_KEY_" + n)
		value, hasValue := l.Lookup("GIT_CONFIG_VALUE_" + n)
		if !hasKey || !hasValue {
			return fmt.Errorf("read GIT_CONFIG_COUNT: GIT_CONFIG_KEY_%s or GIT_CONFIG_VALUE_%s is not set", n, n)
		}
		canon, ok := canonical(key)
		if !ok {
			return fmt.Errorf("read GIT_CONFIG_KEY_%s: %q is not the name of a variable", n, key)
		}
		if err := l.entry(Entry{Key: canon, Value: value}, ""); err != nil {
			return err
		}
	}
	return nil
}

// SystemFile returns where the git program at the given path looks for the
// system-wide configuration: in the folder etc of its prefix (on Windows, of
// the one above), else in /etc. Only git itself knows for sure, and newer
// releases alone would tell.
func SystemFile(program string) string {
	const etc = "/etc/gitconfig"
	if program == "" {
		return etc
	}
	prefix := filepath.Dir(filepath.Dir(program))
	if prefix == "/usr" {
		return etc
	}
	for _, dir := range []string{prefix, filepath.Dir(prefix)} {
		path := filepath.Join(dir, "etc", "gitconfig")
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	return etc
}
