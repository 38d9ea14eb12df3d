// Package ownpath removes the programs of a project from the PATH with which copse looks up its own.
//
// npx, npm scripts, direnv, and activated virtual environments put directories of the project first on
// the PATH, and anybody can commit a program named git there. Use [Without] with each directory in
// which copse was started or that it examines. Recipes keep their PATH.
package ownpath

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/copse-dev/copse/internal/git/gitlink"
	"github.com/copse-dev/copse/internal/regular"
	"github.com/copse-dev/copse/internal/xec"
)

// Without returns env without the entries of PATH in the projects of dirs, empty ones of which have no
// effect. The project of a directory is the directory itself; each repository that contains it, with all
// worktrees; each directory that contains it and has a file with which a project begins, such as a
// justfile; and each directory above it in whose node_modules/.bin or virtual environment an entry lies.
// The home directory and the directories of the system's programs belong to the user, and a directory
// that contains one of them is not a project.
func Without(env xec.Env, dirs ...string) xec.Env {
	p := projects{users: usersOwn(env), seen: map[string]bool{}}
	for i, dir := range dirs {
		if dir != "" {
			dir = filepath.Clean(dir)
		}
		if dir != "" && !slices.Contains(dirs[:i], dir) {
			p.add(dir)
		}
	}
	return env.Skip(func(entry string) bool {
		if entry = filepath.Clean(entry); !filepath.IsAbs(entry) || slices.Contains(p.users, entry) {
			return false
		}
		target := real(entry)
		return p.contain(target) || target != entry && p.contain(entry)
	})
}

// projects are the directories whose programs do not count.
type projects struct {
	users []string // directories that belong to the user, or to the system
	// dirs are the directories asked about, as given and without links, and roots those of their
	// projects.
	dirs, roots []string
	// repositories are the directories that the worktrees of a repository share.
	repositories []string
	seen         map[string]bool // whether a directory belongs to one of the repositories
}

// usersOwn returns the home directory, and the places where programs are installed for everybody.
func usersOwn(env xec.Env) []string {
	dirs := []string{"/bin", "/usr/bin", "/usr/local/bin", "/opt/homebrew/bin", "/home/linuxbrew/.linuxbrew/bin", "/run/current-system/sw/bin"}
	for _, name := range []string{"HOME", "USERPROFILE", "SYSTEMROOT", "PROGRAMFILES", "PROGRAMFILES(X86)", "PROGRAMDATA", "LOCALAPPDATA"} {
		if dir := env.Get(name); dir != "" {
			dirs = append(dirs, real(dir))
		}
	}
	return dirs
}

// foreign reports whether the user may have gotten a directory from others.
func (p *projects) foreign(dir string) bool {
	return filepath.Dir(dir) != dir && !slices.ContainsFunc(p.users, func(own string) bool { return within(own, dir) })
}

func (p *projects) add(dir string) {
	target := real(dir)
	p.dirs = append(p.dirs, dir, target)
	for at := target; p.foreign(at); at = filepath.Dir(at) {
		if at == target || begins(at) {
			p.roots = append(p.roots, at)
		}
		if shared := gitlink.Repository(at); shared != "" {
			p.repositories = append(p.repositories, shared)
		}
	}
}

// files are the names, in lower case, of files with which a project begins. An archive can have a
// directory with a .git, so these count above a repository, too.
func files() []string {
	return []string{
		".git", ".tic", ".twig", ".copse.yml", ".mcp.json", "justfile", ".justfile", "makefile", "readme", "readme.md", "package.json",
		"deno.json", "deno.jsonc", "pyproject.toml", "pixi.toml", "go.mod", "cargo.toml", "composer.json", "cmakelists.txt", "flake.nix", "gemfile",
	}
}

// maxNames is the number of names in a directory that are examined.
const maxNames = 10_000

// begins reports whether a directory has one of the files with which a project begins. One that cannot be
// read, or has too many names, counts as if it had.
func begins(dir string) bool {
	opened, err := os.Open(dir)
	if err != nil {
		return !regular.Absent(err)
	}
	defer opened.Close()
	names, err := opened.Readdirnames(maxNames)
	if err != nil && !errors.Is(err, io.EOF) {
		return true
	}
	known := files()
	return len(names) == maxNames || slices.ContainsFunc(names, func(name string) bool { return slices.Contains(known, strings.ToLower(name)) })
}

// marked reports whether a directory has a file.
func marked(dir, name string) bool {
	_, err := os.Lstat(filepath.Join(dir, name))
	return !regular.Absent(err)
}

// contain reports whether an entry of PATH lies in one of the projects.
func (p *projects) contain(entry string) bool {
	if slices.ContainsFunc(p.roots, func(root string) bool { return within(entry, root) }) {
		return true
	}
	if owner := owner(entry); owner != "" && p.foreign(real(owner)) &&
		slices.ContainsFunc(p.dirs, func(dir string) bool { return within(dir, owner) }) {
		return true
	}
	if len(p.repositories) == 0 {
		return false
	}
	return p.tracked(entry)
}

// tracked reports whether a directory lies in a worktree of one of the repositories.
func (p *projects) tracked(dir string) bool {
	if !p.foreign(dir) {
		return false
	}
	in, known := p.seen[dir]
	if !known {
		in = marked(dir, ".git") && slices.Contains(p.repositories, gitlink.Repository(dir)) || p.tracked(filepath.Dir(dir))
		p.seen[dir] = in
	}
	return in
}

// owner returns the directory of the project whose programs an entry of PATH has, "" if its form does
// not say.
func owner(entry string) string {
	above := filepath.Dir(entry)
	if filepath.Base(entry) == ".bin" && filepath.Base(above) == "node_modules" {
		return filepath.Dir(above)
	}
	if marked(above, "pyvenv.cfg") {
		return filepath.Dir(above)
	}
	return ""
}

// within reports whether a clean path is dir, or below it.
func within(path, dir string) bool {
	if os.PathSeparator == '\\' { // the file system ignores case
		path, dir = strings.ToLower(path), strings.ToLower(dir)
	}
	rest, ok := strings.CutPrefix(path, dir)
	return ok && (rest == "" || os.IsPathSeparator(rest[0]) || dir != "" && os.IsPathSeparator(dir[len(dir)-1]))
}

// real returns a path without links, as far as it exists: the rest can appear later.
func real(path string) string {
	if path == "" {
		return ""
	}
	rest := ""
	for at := filepath.Clean(path); ; at = filepath.Dir(at) {
		if found, err := filepath.EvalSymlinks(at); err == nil {
			return filepath.Join(found, rest)
		}
		if filepath.Dir(at) == at {
			return path
		}
		rest = filepath.Join(filepath.Base(at), rest)
	}
}
