package gitconfig

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"syscall"

	"github.com/copse-dev/copse/internal/git/elsewhere"
	"github.com/copse-dev/copse/internal/regular"
)

// ErrNeedsGit reports that only the git program can read this configuration.
var ErrNeedsGit = errors.New("configuration that only the git program can read")

// Sources locates the configuration.
type Sources struct {
	// Lookup reads the environment: GIT_CONFIG_SYSTEM, GIT_CONFIG_NOSYSTEM,
	// GIT_CONFIG_GLOBAL, XDG_CONFIG_HOME, GIT_CONFIG_COUNT and its keys and
	// values.
	Lookup func(key string) (string, bool)
	// Home is the home directory; empty if there is none.
	Home string
	// System is the system-wide file, unless the environment names another.
	System string
	// CommonDir is the repository's directory with the file "config".
	CommonDir string
	// GitDir is the directory of this worktree, with the file "config.worktree", and the subject of
	// includeIf "gitdir:". GitDirAlias is another name of the same directory, over symbolic links,
	// by which it was reached; empty if none.
	GitDir, GitDirAlias string
	// Worktree means that "config.worktree" applies.
	Worktree bool
	// Branch returns the current branch for includeIf "onbranch:", "" if there
	// is none.
	Branch func() string
	// Reading, if set, is called with the path of each file before it is read, whether it exists or
	// not.
	Reading func(path string)
}

// Load reads everything, in git's order: system, global, repository, worktree, environment. A
// missing file counts as an empty one. The error is [ErrNeedsGit], or names an unreadable file and
// the reason.
func Load(s Sources) (Config, error) {
	l := loader{Sources: s}
	if err := l.usersFiles(); err != nil {
		return nil, err
	}
	l.foreign = true
	if err := l.file(filepath.Join(s.CommonDir, "config"), false); err != nil {
		return nil, err
	}
	if s.Worktree {
		if err := l.file(filepath.Join(s.GitDir, "config.worktree"), false); err != nil {
			return nil, err
		}
	}
	l.foreign = false
	if err := l.environment(); err != nil {
		return nil, err
	}
	return l.cfg, nil
}

// usersFiles adds the files of the system and of the user.
func (l *loader) usersFiles() error {
	if skip, err := l.noSystem(); err != nil {
		return err
	} else if !skip {
		path, set := l.Lookup("GIT_CONFIG_SYSTEM")
		if !set {
			path = l.System
		}
		if err := l.file(path, false); err != nil {
			return err
		}
	}
	for _, path := range l.global() {
		if err := l.file(path, true); err != nil {
			return err
		}
	}
	return nil
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

// Own reads the settings of the repository's own files, whether they apply or not: the files of the
// repository and of its worktree, and everything that they include, under any condition. No file of
// the repository contains a setting that Own omits.
func Own(s Sources) (Config, error) {
	l := loader{Sources: s, when: always, foreign: true}
	paths := []string{filepath.Join(s.CommonDir, "config"), filepath.Join(s.CommonDir, "config.worktree")}
	if s.GitDir != s.CommonDir {
		paths = append(paths, filepath.Join(s.GitDir, "config.worktree"))
	}
	for _, path := range paths {
		if err := l.file(path, false); err != nil {
			return nil, err
		}
	}
	return l.cfg, nil
}

// Users reads the settings of the user and the system, in files and in the environment. A setting
// that only the git program can decide counts as not set.
func Users(s Sources) (Config, error) {
	l := loader{Sources: s, when: known}
	if err := l.usersFiles(); err != nil {
		return nil, err
	}
	if err := l.environment(); err != nil {
		return nil, err
	}
	return l.cfg, nil
}

const (
	// maxFile is the maximum size of a file. One with ten thousand branches has 2 MB.
	maxFile = 4 << 20
	// maxFiles is the maximum number of files in total. Ten files that include each other twice are
	// a thousand.
	maxFiles = 500
	// maxBytes is the maximum number of bytes in total.
	maxBytes = 4 * maxFile
)

// loader collects the settings.
type loader struct {
	Sources
	when when
	cfg  Config
	// foreign means that the files are those of the repository, or included by them.
	foreign bool
	depth   int
	files   int
	bytes   int
}

// when selects the conditions of an includeIf that are true.
type when int

const (
	holding when = iota // those that are true; one that only git can decide is ErrNeedsGit
	always              // all
	known               // those that are known to be true
)

// file adds the settings and includes of path. Git continues without a user's file that it may not
// read.
func (l *loader) file(path string, skipForbidden bool) error {
	if path == "" {
		return nil
	}
	if l.Reading != nil {
		l.Reading(path)
	}
	if l.files++; l.files > maxFiles {
		return fmt.Errorf("read git configuration %q: more than %d files are included", path, maxFiles)
	}
	if l.foreign {
		if err := elsewhere.Link(path); err != nil {
			return err
		}
	}
	text, err := Read(path)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR),
		skipForbidden && errors.Is(err, fs.ErrPermission):
		return nil
	case err != nil:
		return fmt.Errorf("read git configuration: %w", err)
	}
	if l.bytes += len(text); l.bytes > maxBytes {
		return fmt.Errorf("read git configuration %q: with its includes, it has more than %d MB", path, maxBytes>>20)
	}
	entries, err := Parse(text)
	if err != nil {
		return fmt.Errorf("read git configuration %q: %w", path, err)
	}
	l.cfg = slices.Grow(l.cfg, len(entries))
	for _, e := range entries {
		if err := l.entry(e, path); err != nil {
			return err
		}
	}
	return nil
}

// Read returns the text of a configuration file. The null device, by which a user disables a file,
// counts as empty. Anything else that is not a regular file, or is larger than any configuration,
// is an error of the package regular.
func Read(path string) ([]byte, error) {
	text, err := regular.Read(path, maxFile)
	if special, ok := errors.AsType[*regular.NotRegularError](err); ok && special.Mode&fs.ModeDevice != 0 {
		info, statErr := os.Stat(path)
		null, nullErr := os.Stat(os.DevNull)
		if statErr == nil && nullErr == nil && os.SameFile(info, null) {
			return nil, nil
		}
	}
	return text, err
}

// environment adds the settings that GIT_CONFIG_COUNT announces.
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

// SystemFile returns the path where the git program at the given path looks for the system-wide
// configuration: in the directory etc of its prefix (on Windows, of the one above), or else in
// /etc; "" if that is nowhere. Only git itself knows for sure, and only newer releases would report it.
func SystemFile(program string) string {
	etc := "/etc/gitconfig"
	if runtime.GOOS == "windows" {
		etc = "" // every account can make directories in the root of a drive
	}
	if program == "" {
		return etc
	}
	prefix := filepath.Dir(filepath.Dir(program))
	if prefix == "/usr" {
		return etc
	}
	for _, dir := range []string{prefix, filepath.Dir(prefix)} {
		if filepath.Dir(dir) == dir {
			break
		}
		path := filepath.Join(dir, "etc", "gitconfig")
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	return etc
}
