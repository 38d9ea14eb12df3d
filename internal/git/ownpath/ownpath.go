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
	p := projects{links: links{}, begun: map[string]bool{}, seen: map[string]bool{}}
	p.users = p.usersOwn(env)
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
		target := p.real(entry)
		return p.contain(target) || target != entry && p.contain(entry)
	})
}

// projects are the directories whose programs do not count.
type projects struct {
	links
	users []string // directories that belong to the user, or to the system
	// dirs are the directories asked about, as given and without links, and above those without links with
	// all that contain them. A directory above is read only if an entry of PATH lies in it.
	dirs, above []string
	begun       map[string]bool // whether a directory is the root of a project
	// repositories are the directories that the worktrees of a repository share, nil until shared needs them.
	repositories []string
	seen         map[string]bool // whether a directory belongs to one of the repositories
}

// usersOwn returns the home directory, and the places where programs are installed for everybody.
func (l links) usersOwn(env xec.Env) []string {
	dirs := []string{"/bin", "/usr/bin", "/usr/local/bin", "/opt/homebrew/bin", "/home/linuxbrew/.linuxbrew/bin", "/run/current-system/sw/bin"}
	for _, name := range []string{"HOME", "USERPROFILE", "SYSTEMROOT", "PROGRAMFILES", "PROGRAMFILES(X86)", "PROGRAMDATA", "LOCALAPPDATA"} {
		if dir := env.Get(name); dir != "" {
			dirs = append(dirs, l.real(dir))
		}
	}
	return dirs
}

// foreign reports whether the user may have gotten a directory from others.
func (p *projects) foreign(dir string) bool {
	return filepath.Dir(dir) != dir && !slices.ContainsFunc(p.users, func(own string) bool { return within(own, dir) })
}

func (p *projects) add(dir string) {
	target := p.real(dir)
	p.dirs, p.begun[target] = append(p.dirs, dir, target), true
	for at := target; p.foreign(at); at = filepath.Dir(at) {
		p.above = append(p.above, at)
	}
}

// root reports whether a directory is the root of a project.
func (p *projects) root(dir string) bool {
	is, known := p.begun[dir]
	if !known {
		is = begins(dir)
		p.begun[dir] = is
	}
	return is
}

// shared returns the directories that the worktrees of a repository share.
func (p *projects) shared() []string {
	if p.repositories == nil {
		p.repositories = []string{}
		for _, dir := range p.above {
			if shared := p.repository(dir); shared != "" {
				p.repositories = append(p.repositories, shared)
			}
		}
	}
	return p.repositories
}

// repository returns the directory that the worktrees share of the repository whose .git is in dir, "" if it has
// none. Most have a directory of their own, which needs no look at what leads there.
func (p *projects) repository(dir string) string {
	path := filepath.Join(dir, ".git")
	info, err := os.Lstat(path)
	if regular.Absent(err) {
		return ""
	}
	if err == nil && info.IsDir() && !marked(path, "commondir") {
		return filepath.Join(p.real(dir), ".git")
	}
	return gitlink.Repository(dir)
}

// files are the names, in lower case, of files with which a project begins. An archive can have a
// directory with a .git, so these count above a repository, too.
func files() []string {
	return strings.Fields(`
		.git .gitignore .gitattributes .gitmodules .github .gitlab-ci.yml .hg .svn .jj .tic .twig .copse.yml
		.mcp.json .vscode .idea .zed .cursor .claude .codex .gemini .devcontainer .devcontainer.json .editorconfig .pre-commit-config.yaml
		.envrc .env .tool-versions .prototools .sdkmanrc .nvmrc .node-version .python-version .ruby-version .java-version .go-version
		.flox .devbox .direnv .pixi .hermit devbox.json shell.nix default.nix flake.nix devenv.nix devenv.yaml aqua.yaml pkgx.yaml rust-toolchain rust-toolchain.toml
		makefile gnumakefile cmakelists.txt meson.build configure configure.ac justfile .justfile rakefile procfile dockerfile containerfile vagrantfile
		compose.yml compose.yaml docker-compose.yml docker-compose.yaml
		package.json deno.json deno.jsonc bunfig.toml .npmrc .yarnrc.yml tsconfig.json pnpm-workspace.yaml nx.json turbo.json lerna.json
		pyproject.toml requirements.txt setup.py setup.cfg tox.ini pipfile pixi.toml environment.yml environment.yaml
		pom.xml mvnw build.xml build.gradle build.gradle.kts settings.gradle settings.gradle.kts gradlew build.sbt project.clj deps.edn
		module.bazel workspace.bazel build.bazel go.mod go.work cargo.toml composer.json gemfile mix.exs rebar.config stack.yaml cabal.project
		dune-project build.zig package.swift pubspec.yaml global.json directory.build.props`)
}

// stems are names like these without a dot in front and without all that follows the next one, of files
// that have many endings.
func stems() []string {
	return []string{"readme", "license", "licence", "copying", "contributing", "changelog", "agents", "claude", "gemini", "mise", "taskfile"}
}

// maxNames is the number of names in a directory that are examined.
const maxNames = 10_000

// begins reports whether a directory has one of the files with which a project begins. One that cannot be
// read, or has too many names, counts as if it had.
func begins(dir string) bool {
	opened, err := regular.OpenDirAt(dir)
	if err != nil {
		return !regular.Absent(err)
	}
	defer opened.Close()
	names, err := opened.Readdirnames(maxNames)
	if err != nil && !errors.Is(err, io.EOF) {
		return true
	}
	known, stems := files(), stems()
	return len(names) == maxNames || slices.ContainsFunc(names, func(name string) bool {
		name = strings.ToLower(name)
		stem, _, _ := strings.Cut(strings.TrimPrefix(name, "."), ".")
		return slices.Contains(known, name) || slices.Contains(stems, stem)
	})
}

// marked reports whether a directory has a file.
func marked(dir, name string) bool {
	_, err := os.Lstat(filepath.Join(dir, name))
	return !regular.Absent(err)
}

// contain reports whether an entry of PATH lies in one of the projects.
func (p *projects) contain(entry string) bool {
	if slices.ContainsFunc(p.above, func(dir string) bool { return within(entry, dir) && p.root(dir) }) {
		return true
	}
	// An entry can also have the programs that a project has installed, in a directory with a known form.
	above := filepath.Dir(entry)
	owner := filepath.Dir(above)
	if slices.ContainsFunc(p.dirs, func(dir string) bool { return within(dir, owner) }) && p.foreign(p.real(owner)) &&
		(filepath.Base(entry) == ".bin" && filepath.Base(above) == "node_modules" || marked(above, "pyvenv.cfg")) {
		return true
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
		in = len(p.shared()) > 0 && slices.Contains(p.shared(), p.repository(dir)) || p.tracked(filepath.Dir(dir))
		p.seen[dir] = in
	}
	return in
}

// within reports whether a clean path is dir, or below it.
func within(path, dir string) bool {
	if os.PathSeparator == '\\' { // the file system ignores case
		path, dir = strings.ToLower(path), strings.ToLower(dir)
	}
	rest, ok := strings.CutPrefix(path, dir)
	return ok && (rest == "" || os.IsPathSeparator(rest[0]) || dir != "" && os.IsPathSeparator(dir[len(dir)-1]))
}

// links are paths without links, by the paths with which they were found: the entries of PATH have most of
// their directories in common.
type links map[string]string

// real returns a path without links, as far as it exists: the rest can appear later.
func (l links) real(path string) string {
	if path == "" {
		return ""
	}
	path = filepath.Clean(path)
	found, known := l[path]
	if known {
		return found
	}
	if found = path; filepath.Dir(path) != path {
		found = filepath.Join(l.real(filepath.Dir(path)), filepath.Base(path))
		info, err := os.Lstat(found)
		// On Windows, there are also short names.
		if err == nil && (info.Mode()&os.ModeSymlink != 0 || os.PathSeparator == '\\') {
			if target, err := filepath.EvalSymlinks(found); err == nil {
				found = target
			}
		}
	}
	l[path] = found
	return found
}
