package credential

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/copse-dev/copse/internal/netrc"
)

// NoGitHub reports that there is certainly no login for any GitHub host: no variable, no netrc
// file, and no file of gh. It starts no program. False means that there may be one.
func (f Finder) NoGitHub() bool {
	return f.unset("GH_TOKEN", "GITHUB_TOKEN", "GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN") && f.noNetrc() && f.noGH()
}

// NoJira reports that there is certainly no login for any Jira.
func (f Finder) NoJira() bool { return f.unset("JIRA_TOKEN", "JIRA_PAT") && f.noNetrc() }

func (f Finder) unset(names ...string) bool {
	return !slices.ContainsFunc(names, func(name string) bool { return f.env(name) != "" })
}

func (f Finder) noNetrc() bool {
	path := netrc.Path(f.GOOS, f.Getenv, f.Home)
	return path == "" || missing(path)
}

// noGH reports that gh, if it exists, is not logged in anywhere: it stores its hosts in a file.
func (f Finder) noGH() bool {
	const hosts = "hosts.yml"
	dirs := []string{
		f.env("GH_CONFIG_DIR"), under(f.env("XDG_CONFIG_HOME"), "gh"), under(f.env("AppData"), "GitHub CLI"), under(f.Home, ".config", "gh"),
	}
	return !slices.ContainsFunc(dirs, func(dir string) bool { return dir != "" && !missing(filepath.Join(dir, hosts)) })
}

// under returns the directory below base, "" without one.
func under(base string, parts ...string) string {
	if base == "" {
		return ""
	}
	return filepath.Join(append([]string{base}, parts...)...)
}

// missing reports that there is no file at a path. A path that cannot be examined may have one.
func missing(path string) bool {
	_, err := os.Stat(path)
	return errors.Is(err, fs.ErrNotExist)
}
