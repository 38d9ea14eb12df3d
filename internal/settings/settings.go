// Package settings reads the two files that configure copse.
//
// [User] is the content of the user's own file, config.yml in copse's configuration directory.
// [Repository] is the content of .copse.yml in the root of a worktree, which the author of the
// repository controls. A repository can set only harmless keys: nothing in [Repository] starts a
// program, opens a file elsewhere, or names a host. A key that only User has is ignored in a
// repository's file, with a [Warning].
//
// Both are read again when they change. An invalid file is an error for everything that depends on
// its settings; unknown keys are warnings.
package settings

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/copse-dev/copse/internal/cachedfile"
	"github.com/copse-dev/copse/internal/regular"
	"github.com/copse-dev/copse/internal/rooted"
	"github.com/copse-dev/copse/internal/yamlfile"
)

const (
	// UserName is the name of the user's file.
	UserName = "config.yml"
	// RepositoryName is the name of a repository's file.
	RepositoryName = ".copse.yml"
)

// User contains the user's settings.
type User struct {
	Commands Commands  `yaml:"commands"`
	Items    UserItems `yaml:"items"`
	Jira     Jira      `yaml:"jira"`
	Stacks   Stacks    `yaml:"stacks"`
	Tasks    Tasks     `yaml:"tasks"`
}

// Repository contains the settings that the author of a repository controls.
type Repository struct {
	Items Items `yaml:"items"`
}

// Commands are the settings of prompts.
type Commands struct {
	Runner Runner `yaml:"runner" form:"native or deno" default:"native" doc:"The program that renders prompts: copse itself, or climpt in deno."`
}

// Runner is the program that renders prompts.
type Runner string

// The runners. The empty one means Native.
const (
	Native Runner = "native"
	Deno   Runner = "deno"
)

// Items are the settings of work items that a repository can have.
type Items struct {
	// Done is nil if it is not set.
	Done []string `yaml:"done" form:"list of statuses" default:"the last status, and done, closed, completed, resolved, cancelled, canceled, wontfix" doc:"The statuses of finished items. done_statuses in .tic/config.yml takes precedence, then the repository's list, then yours."`
	// Project is "" if it is not set.
	Project string `yaml:"project" form:"name" default:"the name of the repository's directory" doc:"The project of this repository in the database that you chose with COPSE_ITEMS or items.database. The address takes precedence, then the repository's file, then yours."`
}

// UserItems are the settings of work items that a user can have.
type UserItems struct {
	Items     `yaml:",inline"`
	Directory map[string]string `yaml:"directory" form:"mapping from a repository's path to a directory" doc:"The directory of a repository's work items, if it is not .tic. Paths are absolute or begin with ~/."`
	Database  map[string]string `yaml:"database" form:"mapping from a repository's path, or a directory above it, to an address" doc:"The PostgreSQL database with the work items of a repository: postgres://USER@HOST/DATABASE?project=NAME. copse uses the longest matching path. Passwords belong in ~/.pgpass. COPSE_ITEMS takes precedence."`
	Branch    string            `yaml:"branch" form:"name of a branch" default:"copse-items" doc:"The branch with the history of a shared store of work items. copse never checks it out."`
	Sync      Sync              `yaml:"sync" form:"manual or after-change" default:"manual" doc:"When a shared store of work items syncs with its remote: on request, or after each change."`
}

// DefaultItemsBranch is the branch of a shared store of work items if the user chose no other.
const DefaultItemsBranch = "copse-items"

// ItemsBranch returns the branch with the history of a shared store of work items.
func (i UserItems) ItemsBranch() string { return cmp.Or(i.Branch, DefaultItemsBranch) }

// Sync defines when a shared store syncs.
type Sync string

// When a shared store syncs. The empty value means SyncManual.
const (
	SyncManual      Sync = "manual"
	SyncAfterChange Sync = "after-change"
)

// Jira are the settings of Jira.
type Jira struct {
	Host string `yaml:"host" form:"host or URL" doc:"The Jira server, if $JIRA_HOST is not set."`
}

// Stacks are the settings of branch stacks.
type Stacks struct {
	Sources []string `yaml:"sources" form:"list of sources" default:"twig, git-spice, graphite, git-town, git-machete, gh-stack, github-stack, pull-request, upstream, reflog" doc:"The order of the sources for a branch's parent. Sources that the list omits follow in the default order."`
}

// Sources returns all possible values of stacks.sources, in the default order.
func Sources() []string {
	return []string{"twig", "git-spice", "graphite", "git-town", "git-machete", "gh-stack", "github-stack", "pull-request", "upstream", "reflog"}
}

// Tasks are the settings of recipes.
type Tasks struct {
	PassCredentials bool `yaml:"pass_credentials" form:"true or false" default:"false" doc:"Whether recipes that an assistant starts get GH_TOKEN, GITHUB_TOKEN, JIRA_TOKEN, and the other credentials in copse's environment."`
}

// File is one of the two files. It is safe for concurrent use.
type File[T User | Repository] struct {
	name string // its name for people
	file *cachedfile.File[content[T]]
}

// content is the content of a file.
type content[T any] struct {
	values   T
	warnings []Warning
}

// OpenUser returns the user's file at path, which is absolute, or "" if the environment names no
// place for it. It reads nothing yet.
func OpenUser(path string) *File[User] {
	if path == "" {
		return &File[User]{name: UserName}
	}
	return &File[User]{name: path, file: cachedfile.New(path, yamlfile.MaxSize, func(data []byte) (content[User], error) {
		return parse[User](data, reader{file: path, known: keysOf[User]()})
	})}
}

// OpenRepository returns the file of the repository whose worktree is at root, an absolute path.
// user is the path of the user's file, for warnings. It reads nothing yet.
func OpenRepository(root, user string) *File[Repository] {
	return &File[Repository]{name: RepositoryName, file: cachedfile.NewIn(rooted.Directory(root), RepositoryName, yamlfile.MaxSize, func(data []byte) (content[Repository], error) {
		return parse[Repository](data, reader{file: RepositoryName, known: keysOf[Repository](), others: keysOf[User](), user: user})
	})}
}

// Files are the two files of a workspace.
type Files struct {
	User       *File[User]
	Repository *File[Repository]
}

// Open returns the files of the user at path and of the repository whose worktree is at
// root; see OpenUser and OpenRepository.
func Open(path, root string) Files {
	return Files{User: OpenUser(path), Repository: OpenRepository(root, path)}
}

// Problems returns the problems of the files, one per line.
func (f Files) Problems() []string { return append(f.User.problems(), f.Repository.problems()...) }

func (f *File[T]) problems() []string {
	if _, err := f.Get(); err != nil {
		return []string{err.Error()}
	}
	var list []string
	for _, w := range f.Warnings() {
		list = append(list, w.String())
	}
	return list
}

// Get returns the current settings. A missing file sets nothing.
func (f *File[T]) Get() (T, error) {
	c, err := f.get()
	return c.values, err
}

// Warnings returns the ignored parts of the file. An invalid file has none: Get returns its error.
func (f *File[T]) Warnings() []Warning {
	c, err := f.get()
	if err != nil {
		return nil
	}
	return c.warnings
}

func (f *File[T]) get() (content[T], error) {
	if f.file == nil {
		return content[T]{}, nil
	}
	c, err := f.file.Get()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return content[T]{}, nil
	case errors.Is(err, rooted.ErrOutside):
		return content[T]{}, fmt.Errorf("%s cannot be used: it is a symbolic link that points outside the repository; replace the link with a file", f.name)
	case err != nil:
		return content[T]{}, fmt.Errorf("%s cannot be used: %w", f.name, regular.WithOwner(err, f.name))
	}
	return c, nil
}

// parse reads a file.
func parse[T User | Repository](data []byte, r reader) (content[T], error) {
	values, err := yamlfile.Decode[T](data)
	if err != nil {
		return content[T]{}, err
	}
	if u, ok := any(values).(User); ok {
		if err := u.check(); err != nil {
			return content[T]{}, err
		}
	}
	warnings, err := r.ignored(data)
	return content[T]{values, warnings}, err
}

func (u User) check() error {
	switch r := u.Commands.Runner; r {
	case "", Native, Deno:
	default:
		return fmt.Errorf("commands.runner is %q; use %s or %s", string(r), Native, Deno)
	}
	switch s := u.Items.Sync; s {
	case "", SyncManual, SyncAfterChange:
	default:
		return fmt.Errorf("items.sync is %q; use %s or %s", string(s), SyncManual, SyncAfterChange)
	}
	for _, name := range u.Stacks.Sources {
		if !slices.Contains(Sources(), name) {
			return fmt.Errorf("stacks.sources has %q; use %s", name, strings.Join(Sources(), ", "))
		}
	}
	for repository, dir := range u.Items.Directory {
		for _, path := range []string{repository, dir} {
			if _, ok := expand(path, "/"); !ok {
				return fmt.Errorf("items.directory has the path %q; write an absolute path, or one that begins with ~/", path)
			}
		}
	}
	for repository := range u.Items.Database {
		if _, ok := expand(repository, "/"); !ok {
			return fmt.Errorf("items.database has the path %q; write an absolute path, or one that begins with ~/", repository)
		}
	}
	return nil
}

// DatabaseOf returns the address of the database with the work items of the repository whose
// worktree is at one of roots, and false if the user has not set one. home is the user's home
// directory.
func (i UserItems) DatabaseOf(home string, roots ...string) (string, bool) {
	longest, address := "", ""
	for path, to := range i.Database {
		at, ok := expand(path, home)
		if !ok {
			continue
		}
		if real, err := filepath.EvalSymlinks(at); err == nil && !slices.ContainsFunc(roots, func(root string) bool { return within(root, at) }) {
			at = real
		}
		if len(at) > len(longest) && slices.ContainsFunc(roots, func(root string) bool { return within(root, at) }) {
			longest, address = at, to
		}
	}
	return address, longest != ""
}

// within reports whether a path is a directory, or below it.
func within(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// DirectoryOf returns the directory of the work items of the repository whose worktree is at one of
// roots, and false if the user has not set one. home is the user's home directory.
func (i UserItems) DirectoryOf(home string, roots ...string) (string, bool) {
	for repository, dir := range i.Directory {
		at, _ := expand(repository, home)
		real, err := filepath.EvalSymlinks(at)
		if err != nil {
			real = at
		}
		if slices.Contains(roots, at) || slices.Contains(roots, real) {
			return expand(dir, home)
		}
	}
	return "", false
}

// expand returns a path with the home directory for ~, and whether it is then absolute.
func expand(path, home string) (string, bool) {
	if rest, ok := strings.CutPrefix(filepath.ToSlash(path), "~/"); ok {
		return filepath.Join(home, filepath.FromSlash(rest)), home != ""
	}
	return filepath.Clean(path), filepath.IsAbs(path)
}
