// Package hazard finds the files of a repository that the git program would wait for, or read
// indefinitely: named pipes, devices, files of absurd size, and links to them.
//
// Git opens what it finds. A named pipe then keeps it waiting forever for a writer, and a link to
// /dev/zero fills the memory. Before git starts, [Checker.Check] examines the files that git reads
// in full and in every command, at the cost of a stat each. It also refuses links to files that are
// not git's, if git quotes their content: a list of worktrees would show the first line of
// ~/.netrc. [Search] examines everything, and is for a git that runs longer than it should. Neither
// reads more than lists of paths. Their error is an [*fs.PathError] with an error of the packages regular
// and elsewhere.
package hazard

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/copse-dev/copse/internal/cachedfile"
	"github.com/copse-dev/copse/internal/git/elsewhere"
	"github.com/copse-dev/copse/internal/git/gitlink"
	"github.com/copse-dev/copse/internal/regular"
)

// Layout locates the files of the repository. Paths are absolute.
type Layout struct {
	// GitDir is git's directory for the worktree, CommonDir the one for all of them.
	GitDir, CommonDir string
	// Root is the root of the worktree; empty if there is none.
	Root string
	// Files are further files that git reads in full, because its configuration names them.
	Files []string
}

// from returns the directories by which the repository was reached.
func (l Layout) from() []string { return []string{l.GitDir, l.CommonDir, l.Root} }

const (
	small  = 1 << 20   // a ref, a state, the 25,000 commits of a boundary, which git sorts slowly
	medium = 16 << 20  // patterns
	large  = 512 << 20 // packed refs, an index of five million files

	// maxEntries is the maximum number of directory entries to examine.
	maxEntries = 200_000
	// maxDepth is the maximum nesting of directories of refs.
	maxDepth = 100
)

// file is a file of git, and its maximum size.
type file struct {
	name  string
	limit int64
}

// In the directories of git. Each is relative, and need not exist.
var (
	worktreeFiles = []file{
		{"HEAD", small}, {"commondir", small}, {"gitdir", small}, {"config.worktree", medium}, {"index", large},
		{"MERGE_HEAD", small}, {"MERGE_MODE", small}, {"MERGE_RR", medium}, {"CHERRY_PICK_HEAD", small}, {"REVERT_HEAD", small},
		{"REBASE_HEAD", small}, {"AUTO_MERGE", small}, {"ORIG_HEAD", small}, {"FETCH_HEAD", medium}, {"BISECT_START", small},
		{"BISECT_LOG", medium}, {"BISECT_HEAD", small}, {"NOTES_MERGE_REF", small}, {"MERGE_AUTOSTASH", small}, {"info/sparse-checkout", medium},
	}
	commonFiles = []file{
		{"config", medium}, {"packed-refs", large}, {"shallow", small}, {"info/attributes", medium}, {"info/exclude", medium},
		{"info/grafts", medium}, {"objects/info/alternates", small}, {"objects/info/commit-graph", 4 * large},
		{"objects/info/commit-graphs/commit-graph-chain", small}, {"objects/pack/multi-pack-index", 4 * large},
		{"objects/pack/multi-pack-index.d/multi-pack-index-chain", small},
		{"objects/loose-object-idx", medium}, {"reftable/tables.list", small}, {"logs/HEAD", large},
	}
	// linkable are files that people replace with links, and of which git shows no content.
	linkable = []string{
		"config", "config.worktree",
		"info/attributes", "info/exclude", "info/sparse-checkout",
	}
	// private are directories of which git shows names.
	private = []string{"rebase-merge", "rebase-apply", "sequencer"}
	// passed are the directories on the way to files of git.
	passed       = []string{"info", "objects", "objects/info", "objects/info/commit-graphs", "objects/pack", "objects/pack/multi-pack-index.d", "reftable", "worktrees"}
	worktreeDirs = []file{{"refs", small}, {"rebase-merge", small}, {"rebase-apply", small}, {"sequencer", small}, {"logs", large}}
	commonDirs   = []file{{"refs", small}, {"remotes", small}, {"branches", small}, {"logs", large}}
	rootFiles    = []string{".gitattributes", ".gitignore", ".gitmodules", ".mailmap"}
)

// Checker checks repositories repeatedly. It does not list directories again that have not changed
// since they were free of hazards. It is safe for concurrent use.
type Checker struct {
	mu   sync.Mutex
	free map[string]freeDir
	dirs []string // git's directories, of the current check
}

// freeDir is a directory whose own entries cannot be hazards.
type freeDir struct {
	signature cachedfile.Signature
	below     []string // the names of the directories in it
}

// Check examines the files that git reads in every command.
func (c *Checker) Check(l Layout) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.free) > maxEntries {
		c.free = nil
	}
	c.dirs = []string{l.GitDir, l.CommonDir}
	if c.free == nil {
		c.free = map[string]freeDir{}
	}
	if err := c.dir(l.GitDir, worktreeFiles, worktreeDirs); err != nil {
		return err
	}
	if err := c.dir(l.CommonDir, commonFiles, commonDirs); err != nil {
		return err
	}
	if err := c.tables(l.CommonDir); err != nil {
		return err
	}
	if l.GitDir != l.CommonDir {
		if err := errors.Join(look(filepath.Join(l.CommonDir, "HEAD"), small), c.tables(l.GitDir)); err != nil {
			return err
		}
	}
	if err := c.worktrees(l); err != nil {
		return err
	}
	if l.Root != "" {
		for _, name := range rootFiles {
			if err := look(filepath.Join(l.Root, name), medium); err != nil {
				return err
			}
		}
	}
	for _, path := range l.Files {
		if err := elsewhere.Check(filepath.Join(l.CommonDir, "config"), path, l.from()...); err != nil {
			return err
		}
		if err := elsewhere.Leads(filepath.Join(l.CommonDir, "config"), path); err != nil {
			return err
		}
		if err := look(path, medium); err != nil {
			return err
		}
	}
	_, err := lenders(filepath.Join(l.CommonDir, "objects"))
	return err
}

// dir checks one of git's directories. The limit of a directory in it is that of each file there.
func (c *Checker) dir(path string, files, dirs []file) error {
	for _, name := range passed {
		if err := elsewhere.Link(filepath.Join(path, name)); err != nil {
			return err
		}
	}
	for _, f := range files {
		check := c.own
		if slices.Contains(linkable, f.name) {
			check = look
		}
		if err := check(filepath.Join(path, f.name), f.limit); err != nil {
			return err
		}
	}
	for _, d := range dirs {
		left := maxEntries
		if slices.Contains(private, d.name) {
			if err := c.own(filepath.Join(path, d.name), d.limit); err != nil {
				return err
			}
		}
		if err := c.tree(filepath.Join(path, d.name), d.limit, 0, &left); err != nil {
			return err
		}
	}
	return nil
}

// tables checks the tables of refs that one of git's directories lists.
func (c *Checker) tables(path string) error {
	dir := filepath.Join(path, "reftable")
	if err := elsewhere.Link(filepath.Join(dir, "tables.list")); err != nil {
		return err
	}
	list := filepath.Join(dir, "tables.list")
	text, err := regular.Read(list, small)
	if err != nil {
		return special(err)
	}
	for name := range strings.Lines(string(text)) {
		if name = strings.TrimSuffix(name, "\n"); name == "" {
			continue
		}
		if !isTable(name) {
			return &fs.PathError{Op: "read", Path: list, Err: fmt.Errorf("it contains %.80q, which is not the name of a table in its directory", name)}
		}
		if err := c.own(filepath.Join(dir, name), large); err != nil {
			return err
		}
	}
	return nil
}

// isTable reports whether a table of refs can have this name: git and other programs give it letters,
// digits, dashes, underscores, and dots.
func isTable(name string) bool {
	const usual = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_."
	return name[0] != '.' && strings.Trim(name, usual) == ""
}

// worktrees checks the files of the other linked worktrees that git reads when it lists them, and
// where git looks for all of them.
func (c *Checker) worktrees(l Layout) error {
	path := filepath.Join(l.CommonDir, "worktrees")
	if err := c.own(path, small); err != nil {
		return err
	}
	entries, err := regular.ReadDir(path)
	if err != nil {
		return nil //nolint:nilerr // there are none, or git reports the problem
	}
	for _, e := range entries {
		dir := filepath.Join(path, e.Name())
		if e.Type()&fs.ModeSymlink != 0 {
			if err := c.own(dir, small); err != nil {
				return err
			}
		}
		if err := pointer(filepath.Join(dir, "gitdir"), l.from()); err != nil {
			return err
		}
		if err := c.own(filepath.Join(dir, "gitdir"), small); err != nil {
			return err
		}
		if dir == l.GitDir {
			continue
		}
		if err := c.other(dir); err != nil {
			return err
		}
	}
	return nil
}

// other checks what git reads of a worktree in which it does not start, whose git directory is dir.
func (c *Checker) other(dir string) error {
	if err := elsewhere.Link(filepath.Join(dir, "logs")); err != nil {
		return err
	}
	for _, f := range []file{{"HEAD", small}, {"commondir", small}, {"locked", small}, {"config.worktree", small}} {
		if err := c.own(filepath.Join(dir, f.name), f.limit); err != nil {
			return err
		}
	}
	if err := c.tables(dir); err != nil {
		return err
	}
	for _, d := range []file{{"refs", small}, {"logs", large}} {
		left := maxEntries
		if err := c.tree(filepath.Join(dir, d.name), d.limit, 0, &left); err != nil {
			return err
		}
	}
	return nil
}

// pointer checks that a file with a path leads nowhere else.
func pointer(file string, from []string) error {
	if err := elsewhere.Link(file); err != nil {
		return err
	}
	text, err := regular.Read(file, small)
	if err != nil {
		return special(err)
	}
	target := gitlink.From(filepath.Dir(file), gitlink.Path(string(text)))
	if err := elsewhere.Check(file, target, from...); err != nil {
		return err
	}
	return elsewhere.Leads(file, target)
}

// tree checks the files of a directory and its subdirectories, each of which has at most limit bytes.
func (c *Checker) tree(path string, limit int64, depth int, left *int) error {
	info, err := stat(path)
	if _, away := errors.AsType[*elsewhere.Error](err); away {
		return err
	}
	if err != nil || !info.IsDir() {
		return nil //nolint:nilerr // there is none, or git reports the problem
	}
	if depth > maxDepth {
		return &fs.PathError{Op: "list", Path: path, Err: fmt.Errorf("directories of refs are nested more than %d deep", maxDepth)}
	}
	at, signature := time.Now(), cachedfile.SignatureOf(info)
	known, ok := c.free[path]
	if !ok || known.signature != signature {
		below, err := c.list(path, limit, left)
		if err != nil {
			return err
		}
		known = freeDir{signature: signature, below: below}
		if signature.Settled(at) {
			c.free[path] = known
		}
	}
	for _, name := range known.below {
		if err := c.tree(filepath.Join(path, name), limit, depth+1, left); err != nil {
			return err
		}
	}
	return nil
}

// list checks the entries of one directory, and returns the names of the directories.
func (c *Checker) list(path string, limit int64, left *int) (below []string, err error) {
	dir, err := os.OpenFile(path, regular.Flags, 0)
	if err != nil {
		return nil, nil
	}
	defer dir.Close()
	const batch = 1000
	for {
		entries, err := dir.ReadDir(batch)
		for _, e := range entries {
			name := filepath.Join(path, e.Name())
			if *left--; *left < 0 {
				return nil, &fs.PathError{Op: "list", Path: path, Err: fmt.Errorf("there are more than %d refs in files; run `git pack-refs --all`", maxEntries)}
			}
			if e.IsDir() {
				below = append(below, e.Name())
				continue
			}
			if e.Type()&fs.ModeSymlink != 0 {
				if err := c.link(name); err != nil {
					return nil, err
				}
			}
			if err := look(name, limit); err != nil {
				return nil, err
			}
		}
		if err != nil || len(entries) < batch {
			return below, nil
		}
	}
}

// lenders returns the object directories that one borrows from, directly or through others, each once. The error is
// about a list of them; the directories found before it are returned, too.
func lenders(objects string) (found []string, err error) {
	const maxNesting, maxPaths = 5, 100 // the first is git's
	seen := map[string]bool{objects: true}
	for depth, level := 0, []string{objects}; len(level) > 0; depth++ {
		var next []string
		for _, objects := range level {
			listed := filepath.Join(objects, "info", "alternates")
			text, err := regular.Read(listed, small)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return found, special(err)
			}
			if depth == maxNesting {
				continue
			}
			paths, err := listedIn(listed, objects, lines(text))
			for _, path := range paths {
				if !seen[path] {
					seen[path] = true
					found, next = append(found, path), append(next, path)
				}
			}
			if err == nil && len(found) > maxPaths {
				err = &fs.PathError{Op: "read", Path: listed, Err: &ContentError{fmt.Sprintf("leads to more than %d object directories", maxPaths), "remove some of them"}}
			}
			if err != nil {
				return found[:min(len(found), maxPaths)], err
			}
		}
		level = next
	}
	return found, nil
}

// listedIn returns the object directories that the lines of a list name.
func listedIn(listed, objects string, named []string) (found []string, err error) {
	for _, path := range named {
		if path[0] == '"' {
			return found, &fs.PathError{Op: "read", Path: listed, Err: &ContentError{"has a path in quotation marks", "write the path without quotation marks"}}
		}
		if strings.Contains(path, "\x00") {
			return found, &fs.PathError{Op: "read", Path: listed, Err: &ContentError{"has a NUL, at which git ends the path", "remove it"}}
		}
		for _, path := range borrowedFrom(objects, path) {
			if err := elsewhere.Check(listed, path, objects); err != nil {
				return found, err
			}
			if err := elsewhere.Leads(listed, filepath.Join(path, "info", "alternates")); err != nil {
				return found, err
			}
			found = append(found, path)
		}
	}
	return found, nil
}

// borrowedFrom returns the object directories that the alternates of another one can name with a path. Git resolves the
// links in the directory that has the list. Some releases then clean the path, and others follow its links first, which
// differs for a link before "..".
func borrowedFrom(objects, path string) []string {
	if real, err := elsewhere.Resolve(objects, objects); err == nil {
		objects = real
	}
	path = gitlink.From(objects, path)
	found := []string{filepath.Clean(path)}
	if elsewhere.Check(objects, path, objects) == nil {
		if followed, err := elsewhere.Resolve(objects, path); err == nil && followed != found[0] && strings.Contains(path, "..") {
			found = append(found, followed)
		}
	}
	return found
}

// lines returns the lines of a text that are neither empty nor comments.
func lines(text []byte) []string {
	var found []string
	start := 0
	for i := 0; i <= len(text); i++ {
		if i == len(text) || text[i] == '\n' {
			if line := text[start:i]; len(line) > 0 && line[0] != '#' {
				found = append(found, string(line))
			}
			start = i + 1
		}
	}
	return found
}

// look returns the problem of the file at path, nil if there is none. Directories are harmless
// instead of a file, and so is the null device.
func look(path string, limit int64) error {
	info, err := stat(path)
	if _, away := errors.AsType[*elsewhere.Error](err); away {
		return err
	}
	if err != nil {
		return nil //nolint:nilerr // git reports the problem
	}
	return judge(path, info, limit)
}

// stat returns os.Stat, or the error of a link that leads elsewhere.
func stat(path string) (fs.FileInfo, error) {
	info, err := os.Lstat(path)
	if err != nil || info.Mode()&fs.ModeSymlink == 0 {
		return info, err
	}
	if err := elsewhere.Leads(path, path); err != nil {
		return nil, err
	}
	return os.Stat(path)
}

func judge(path string, info fs.FileInfo, limit int64) error {
	if info.IsDir() {
		return nil
	}
	if info.Mode()&fs.ModeDevice != 0 {
		if null, err := os.Stat(os.DevNull); err == nil && os.SameFile(info, null) {
			return nil
		}
	}
	if info.Mode()&fs.ModeSocket != 0 {
		return nil // opening it fails immediately
	}
	if err := regular.CheckAt(path, info, limit); err != nil {
		return &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return nil
}

// shared is a file that git-new-workdir links to that of another repository.
const shared = "packed-refs"

// own is look for what only git writes. Git quotes such a file in its messages and lists, so a link would
// reveal the content of another file.
func (c *Checker) own(path string, limit int64) error {
	info, err := os.Lstat(path)
	if err != nil {
		return nil //nolint:nilerr // git reports the problem
	}
	if info.Mode()&fs.ModeSymlink == 0 {
		return judge(path, info, limit)
	}
	if err := elsewhere.Leads(path, path); err != nil {
		return err
	}
	if target, away := c.leaves(path); away && (filepath.Base(path) != shared || filepath.Base(target) != shared) {
		return &fs.PathError{Op: "open", Path: path, Err: &regular.NotRegularError{Mode: fs.ModeSymlink}}
	}
	return look(path, limit)
}

// link returns the problem of a link between refs.
func (c *Checker) link(path string) error {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return &fs.PathError{Op: "open", Path: path, Err: &regular.NotRegularError{Mode: fs.ModeSymlink}}
	}
	return c.inside(path)
}

// inside returns an error if the link at path leads to a file outside git's directories.
func (c *Checker) inside(path string) error {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return nil //nolint:nilerr // look reports it
	}
	if _, away := c.leaves(path); !away {
		return nil
	}
	return &fs.PathError{Op: "open", Path: path, Err: &regular.NotRegularError{Mode: fs.ModeSymlink}}
}

// leaves returns the target of the link at path, and whether that is outside git's directories.
func (c *Checker) leaves(path string) (target string, away bool) {
	target, err := filepath.EvalSymlinks(path)
	return target, err == nil && !slices.ContainsFunc(c.dirs, func(dir string) bool {
		real, err := filepath.EvalSymlinks(dir)
		return err == nil && strings.HasPrefix(target, real+string(filepath.Separator))
	})
}

// special returns err if it is about the type of a file, or a path that leads elsewhere.
func special(err error) error {
	_, odd := errors.AsType[*regular.NotRegularError](err)
	_, big := errors.AsType[*regular.TooLargeError](err)
	_, away := errors.AsType[*elsewhere.Error](err)
	if odd || big || away {
		return err
	}
	return nil
}
