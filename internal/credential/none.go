package credential

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/copse-dev/copse/internal/netrc"
	"github.com/copse-dev/copse/internal/regular"
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
	return !slices.ContainsFunc(f.ghHosts(), func(file string) bool { return !missing(file) })
}

// ghHosts returns the paths at which gh may store its hosts.
func (f Finder) ghHosts() []string {
	dirs := []string{
		f.env("GH_CONFIG_DIR"), under(f.env("XDG_CONFIG_HOME"), "gh"), under(f.env("AppData"), "GitHub CLI"), under(f.Home, ".config", "gh"),
	}
	var files []string
	for _, dir := range dirs {
		if dir != "" {
			files = append(files, filepath.Join(dir, "hosts.yml"))
		}
	}
	return files
}

// maxHosts limits the file of gh's hosts.
const maxHosts = 1 << 20

// inGH reports whether gh has a login for a host: its file begins each with a line "HOST:".
func (f Finder) inGH(host string) bool {
	return slices.ContainsFunc(f.ghHosts(), func(file string) bool {
		text, err := regular.Read(file, maxHosts)
		if err != nil {
			return false
		}
		for line := range strings.Lines(string(text)) {
			if name, _, ok := strings.Cut(line, ":"); ok && strings.EqualFold(strings.Trim(name, `"'`), host) {
				return true
			}
		}
		return false
	})
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
