package gitconfig

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/copse-dev/copse/internal/git/elsewhere"
	"github.com/copse-dev/copse/internal/git/gitlink"
)

// maxDepth is git's limit on files that include files.
const maxDepth = 10

// entry adds e, and what it includes; from is the file e is written in.
func (l *loader) entry(e Entry, from string) error {
	e.Users = !l.foreign
	l.cfg = append(l.cfg, e)
	if err := l.include(e, from); err != nil || l.when != always || e.Older == "" {
		return err
	}
	// The release of git decides which file it reads.
	e.Value = e.Older
	return l.include(e, from)
}

// include adds what e includes.
func (l *loader) include(e Entry, from string) error {
	path, err := l.included(e, from)
	if err != nil || path == "" {
		return err
	}
	if l.depth++; l.depth > maxDepth {
		return fmt.Errorf("read git configuration %q: includes are nested more than %d deep", from, maxDepth)
	}
	defer func() { l.depth-- }()
	return l.file(path, false)
}

// included returns the file that e includes, "" if none.
func (l *loader) included(e Entry, from string) (string, error) {
	if e.Key != "include.path" {
		condition, ok := strings.CutPrefix(e.Key, "includeif.")
		if !ok {
			return "", nil
		}
		if condition, ok = strings.CutSuffix(condition, ".path"); !ok {
			return "", nil
		}
		if holds, err := l.applies(condition, from); err != nil || !holds {
			return "", err
		}
	}
	if e.NoValue {
		return "", fmt.Errorf("read git configuration %q: %s has no value", from, e.Key)
	}
	path, err := l.expandHome(e.Value)
	if errors.Is(err, ErrNeedsGit) {
		switch l.when {
		case always:
			return "", fmt.Errorf("read git configuration %q: it includes %q; write that path in full", from, e.Value)
		case known:
			return "", nil
		}
	}
	if err != nil {
		return "", err
	}
	if from == "" {
		if !filepath.IsAbs(path) {
			return "", fmt.Errorf("read git configuration from the environment: included path %q is not absolute", e.Value)
		}
		return path, nil
	}
	path = gitlink.From(dirOf(from), path)
	if l.foreign {
		err = errors.Join(elsewhere.Check(from, path, l.CommonDir, l.GitDir, l.Home), elsewhere.Leads(from, path))
	}
	return path, err
}

// dirOf returns everything before the last separator of a path, as it is.
func dirOf(path string) string {
	for i := len(path) - 1; i >= 0; i-- {
		if os.IsPathSeparator(path[i]) {
			return path[:i]
		}
	}
	return "."
}

// applies reports whether what an includeIf includes counts here.
func (l *loader) applies(condition, from string) (bool, error) {
	if l.when == always {
		return true, nil
	}
	holds, err := l.holds(condition, from)
	if l.when == known && errors.Is(err, ErrNeedsGit) {
		return false, nil
	}
	return holds, err
}

// expandHome replaces "~/" by the home directory.
func (l *loader) expandHome(path string) (string, error) {
	switch {
	case path == "~", strings.HasPrefix(path, "~/"):
		if l.Home == "" {
			return "", fmt.Errorf("read git configuration: %q needs a home directory, and HOME is not set", path)
		}
		return l.Home + path[1:], nil
	case strings.HasPrefix(path, "~"), strings.HasPrefix(path, "%(prefix)/"):
		return "", fmt.Errorf("%w: path %q", ErrNeedsGit, path)
	default:
		return path, nil
	}
}

// holds reports whether the condition of an includeIf is true.
func (l *loader) holds(condition, from string) (bool, error) {
	keyword, pattern, _ := strings.Cut(condition, ":")
	if strings.ContainsAny(pattern, `[\`) {
		return false, fmt.Errorf("%w: includeIf %q", ErrNeedsGit, condition)
	}
	switch keyword {
	case "gitdir":
		return l.inGitDir(pattern, from, false)
	case "gitdir/i":
		return l.inGitDir(pattern, from, true)
	case "onbranch":
		branch := l.Branch()
		return branch != "" && matchPath(wholeDir(pattern), branch, false), nil
	default:
		return false, fmt.Errorf("%w: includeIf %q", ErrNeedsGit, condition)
	}
}

// inGitDir matches the repository's directory against a pattern of a path, in which "~/" is the
// home directory, "./" the directory of the file it is written in, and a relative path may begin
// anywhere.
func (l *loader) inGitDir(pattern, from string, foldCase bool) (bool, error) {
	prefix := "" // compared literally, not as a pattern
	switch {
	case strings.HasPrefix(pattern, "./"):
		if from == "" {
			return false, fmt.Errorf("read git configuration from the environment: includeIf %q is relative to no file", pattern)
		}
		real, err := filepath.EvalSymlinks(from)
		if err != nil {
			return false, fmt.Errorf("read git configuration: %w", err)
		}
		prefix = slashed(filepath.Dir(real)) + "/"
		pattern = pattern[len("./"):]
	case strings.HasPrefix(pattern, "~"):
		if l.Home == "" {
			return false, nil
		}
		home, err := filepath.EvalSymlinks(l.Home)
		if err != nil {
			home = l.Home
		}
		resolved := loader{Sources: Sources{Home: home}}
		if pattern, err = resolved.expandHome(pattern); err != nil {
			return false, err
		}
		pattern = filepath.ToSlash(pattern)
	case !filepath.IsAbs(pattern) && !strings.HasPrefix(pattern, "/"):
		pattern = "**/" + pattern
	}
	for _, dir := range []string{l.GitDir, l.GitDirAlias} {
		if dir == "" {
			continue
		}
		rest, ok := cutPrefix(slashed(dir), prefix, foldCase)
		if ok && matchPath(wholeDir(pattern), rest, foldCase) {
			return true, nil
		}
	}
	return false, nil
}

// wholeDir lets a pattern that ends with a slash match everything below.
func wholeDir(pattern string) string {
	if strings.HasSuffix(pattern, "/") {
		return pattern + "**"
	}
	return pattern
}

func slashed(path string) string {
	return strings.TrimSuffix(filepath.ToSlash(path), "/")
}

func cutPrefix(s, prefix string, foldCase bool) (string, bool) {
	if foldCase && len(s) >= len(prefix) && asciiLower(s[:len(prefix)]) == asciiLower(prefix) {
		return s[len(prefix):], true
	}
	return strings.CutPrefix(s, prefix)
}
