package discovery

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/git/gitconfig"
)

// checkAccount refuses a repository that belongs to another account of the machine, unless the
// user's own configuration names it in safe.directory: git refuses it, too. dotGit is the directory
// whose .git led here, "" if the search began inside.
func (l *Location) checkAccount(dotGit string) error {
	paths := []string{l.GitDir}
	if l.Root != "" {
		paths = append(paths, l.Root)
	}
	if dotGit != "" {
		paths = append(paths, filepath.Join(dotGit, ".git"))
	}
	foreign := slices.IndexFunc(paths, func(path string) bool { return !ownedByAccount(path, l.env) })
	if foreign < 0 {
		return nil
	}
	dir := cmp.Or(l.Root, l.GitDir)
	sources := l.Sources()
	cfg, err := gitconfig.Users(sources)
	if err == nil && isSafe(cfg, dir, sources.Home) {
		return nil
	}
	return &BrokenError{
		Path: paths[foreign], Problem: "belongs to another account on this machine, which could make copse run its programs", Err: err,
		Remedy: "if you trust it, run `" + cleantext.Command("git", "config", "--global", "--add", "safe.directory", dir) + "`",
	}
}

// isSafe reports whether a configuration names a directory as safe.
func isSafe(cfg gitconfig.Config, dir, home string) bool {
	safe := false
	for _, e := range cfg {
		if e.Key != "safe.directory" {
			continue
		}
		named := filepath.FromSlash(e.Value)
		if rest, ok := strings.CutPrefix(named, "~"+string(filepath.Separator)); ok {
			named = filepath.Join(home, rest)
		}
		parent, below := strings.CutSuffix(named, string(filepath.Separator)+"*")
		switch {
		case named == "":
			safe = false // an empty value clears the list
		case named == "*", named == dir, below && strings.HasPrefix(dir, parent+string(filepath.Separator)):
			safe = true
		default:
			real, err := filepath.EvalSymlinks(named)
			safe = safe || err == nil && real == dir
		}
	}
	return safe
}

// administrators is the SID of the group to which files belong on Windows if an administrator made them.
const administrators = "S-1-5-32-544"

// ownedBySID decides, as git does, whether a file on Windows belongs to an account, which may be
// elevated: run with the rights of administrators.
func ownedBySID(owner, account string, elevated bool) bool {
	return owner != "" && (owner == account || elevated && owner == administrators)
}
