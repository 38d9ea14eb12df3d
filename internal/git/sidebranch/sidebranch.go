// Package sidebranch stores a directory of files as the history of a branch that is never checked
// out, and exchanges it with a remote.
//
// It is the only package that writes git objects and refs. In a repository, it writes only objects
// and the one branch: no index, no working tree, no other ref, no FETCH_HEAD. A branch moves only
// from the commit that the caller names.
//
// Nothing in the repository chooses what runs. Git works in a separate directory that borrows the
// repository's objects and has none of its configuration: hooks, credential helpers, SSH commands,
// rewritten URLs, and transport settings apply only if the user's or the system's configuration has
// them. The repository chooses only the address of a remote, and only http, https, ssh, and local
// paths are allowed. At the other end of a local path, git runs without the programs of that
// repository, and does not touch its working tree.
package sidebranch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/copse-dev/copse/internal/backoff"
	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/git/objects"
	"github.com/copse-dev/copse/internal/git/program"
	"github.com/copse-dev/copse/internal/git/scratch"
	"github.com/copse-dev/copse/internal/git/sidebranch/login"
	"github.com/copse-dev/copse/internal/git/sidebranch/refusal"
	"github.com/copse-dev/copse/internal/regular"
	"github.com/copse-dev/copse/internal/xec"
)

// Commit is the hash of a commit; empty for none.
type Commit string

// ErrMoved reports that a branch, here or at the remote, is not at the caller's commit.
var ErrMoved = errors.New("the branch has moved")

// Repository locates the branch.
type Repository struct {
	*git.Repo
	// Name and Email are the author's. If they are empty, the user's configuration provides them.
	Name, Email string
	// Env is the complete environment.
	Env xec.Env
	// Unattended means that nobody has asked for a transfer: nothing opens a window or a prompt to ask the
	// user for a login.
	Unattended bool
}

// dir returns the base of relative addresses of remotes.
func (r Repository) dir() string { return cmp.Or(r.MainRoot(), r.Root(), r.CommonDir()) }

// Branch is a branch of a repository. It is for one goroutine.
type Branch struct {
	repo Repository
	ref  string
	own  *scratch.Dir // the git directory without the repository's configuration
	// blobs are the contents that were read or written.
	blobs map[string]string
	// outdated is the commit from which the remote did not let the branch move, and refusals is how
	// often, one after the other.
	outdated Commit
	refusals int
	// named are the addresses that servers name instead of others.
	named map[string]string
	// rules are the user's rules that rewrite addresses, once they are known.
	rules *[]rewriting
}

// Open returns the branch with that name, which may not exist. Close it after use.
func Open(ctx context.Context, repo Repository, name string) (*Branch, error) {
	// Objects are written there, and a link could lead anywhere.
	objects := filepath.Join(repo.CommonDir(), "objects")
	if info, err := os.Lstat(objects); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("the repository has no directory %q", "objects")
	}
	own, err := scratch.New(repo.ObjectFormat())
	if err != nil {
		return nil, err
	}
	b := &Branch{repo: repo, ref: "refs/heads/" + name, own: own, blobs: map[string]string{}, named: map[string]string{}}
	if err := b.prepare(ctx, name); err != nil {
		_ = b.Close()
		return nil, err
	}
	return b, nil
}

func (b *Branch) prepare(ctx context.Context, name string) error {
	if _, err := b.repo.Guard().Settings(ctx); err != nil {
		return err
	}
	if _, err := b.git(ctx, nil, "check-ref-format", "--branch", name); errors.Is(err, xec.ErrNotInstalled) {
		return err
	} else if err != nil {
		return fmt.Errorf("%q is not a valid name of a branch", name)
	}
	if err := b.repo.Writable(b.ref); err != nil {
		return err
	}
	// A symbolic ref would move another branch instead.
	if target, err := b.inRepository(ctx, "symbolic-ref", "-q", b.ref); err == nil {
		return fmt.Errorf("branch %q is a symbolic ref to %q; remove it with `%s`", name, strings.TrimSpace(string(target)), cleantext.Command("git", "symbolic-ref", "--delete", b.ref))
	}
	return nil
}

// Close removes temporary files. Objects and the branch stay.
func (b *Branch) Close() error { return b.own.Close() }

const (
	// localTime limits git's work here, and transferTime its work with a remote.
	localTime    = time.Minute
	transferTime = 3 * time.Minute
	// maxOutput limits git's output: all items of a large store. maxList limits the output that
	// lists the files of a commit, and maxFiles their number: directories that contain one another
	// have more of them than a repository has bytes.
	maxOutput = 512 << 20
	maxList   = 64 << 20
	// maxSaid limits git's output during its work with a remote, which is a few lines. A remote decides
	// how many branches it has whose names end with that of this branch.
	maxSaid  = 1 << 20
	maxFiles = 250_000
	// maxAnnounced limits how often a remote can announce a commit that it does not send.
	maxAnnounced = 5
	// maxMemory limits git's memory, if the system supports that.
	maxMemory = 2 << 30
)

// flushed are options with which git writes objects and refs to the disk before it names them. By
// default, a machine that loses power can have a branch at a commit that is empty.
var flushed = []string{"-c", "core.fsync=committed,reference", "-c", "core.fsyncMethod=fsync"}

// streamed are options with which git receives a large file without its content in memory: a few bytes
// of a remote can be one.
var streamed = []string{"-c", "core.bigFileThreshold=16m"}

// git runs git without the repository's configuration.
func (b *Branch) git(ctx context.Context, input []byte, args ...string) ([]byte, error) {
	return b.run(ctx, limits{time: localTime, output: maxOutput}, input, args, side{})
}

// limits are the limits of one run of git: its time, its output in bytes, and how long it may take to
// end when it is asked to.
type limits struct {
	time   time.Duration
	output int
	grace  time.Duration
}

// transfer are the limits of git's work with a remote. A git that is killed while it moves the branch of
// a remote in the file system leaves a lock file there.
var transfer = limits{time: transferTime, output: maxSaid, grace: time.Second}

// run returns the output of result.
func (b *Branch) run(ctx context.Context, limit limits, input []byte, args []string, other side) ([]byte, error) {
	res, err := b.result(ctx, limit, input, args, other)
	return res.Stdout, err
}

// result runs git without the repository's configuration, for a transfer with the environment and the
// guards of the other side.
func (b *Branch) result(ctx context.Context, limit limits, input []byte, args []string, other side) (xec.Result, error) {
	guards := append([]program.Guard{b.repo.Guard()}, other.guards...)
	for _, g := range guards {
		// Settings have no effect without the configuration, but git must not wait for a file.
		if _, err := g.Settings(ctx); err != nil {
			return xec.Result{}, err
		}
	}
	ctx, stop := program.Guarded(ctx, guards...)
	defer stop()
	env := b.environment().With(
		"GIT_DIR="+b.own.Path,
		"GIT_OBJECT_DIRECTORY="+filepath.Join(b.repo.CommonDir(), "objects"),
		"GIT_INDEX_FILE="+filepath.Join(b.own.Path, "index"),
		"GIT_ALLOW_PROTOCOL=file:http:https:ssh",
	).With(other.env...)
	c := xec.Command{
		Name: "git", Args: slices.Concat([]string{"--no-pager"}, flushed, streamed, args), Env: env,
		Stdin: input, Timeout: limit.time, MaxOutput: limit.output, Grace: limit.grace, Whole: true, MaxMemory: maxMemory,
	}
	if other.address != "" { // git starts ssh, or the git of the other side
		c = b.repo.Program().Long(c)
	}
	res, err := xec.Run(ctx, c)
	if err == nil && res.Truncated {
		err = fmt.Errorf("git printed more than %d MB", limit.output>>20)
	}
	if exit, ok := errors.AsType[*xec.ExitError](err); ok && other.address != "" {
		err = refusal.Of(exit, string(res.Stderr), other.by)
	}
	return res, err
}

// inRepository runs git with the repository's configuration, only for the ref, and without the
// programs that this configuration names.
func (b *Branch) inRepository(ctx context.Context, args ...string) ([]byte, error) {
	return b.repo.Program().Run(ctx, args...)
}

// environment returns the user's environment, without variables that name a repository, and with
// variables that keep git from prompting.
func (b *Branch) environment() xec.Env {
	env := b.repo.Environ(b.repo.Env).Without(
		"GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY",
		"GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_NAMESPACE", "GIT_PREFIX", "GIT_GRAFT_FILE", "GIT_SHALLOW_FILE",
		"GIT_REPLACE_REF_BASE", "GIT_INTERNAL_SUPER_PREFIX", "GIT_CEILING_DIRECTORIES", "GIT_DEFAULT_HASH",
		"GIT_CONFIG", "GIT_CONFIG_PARAMETERS", "GIT_TRACE", "GIT_REDIRECT_STDERR", "GIT_REDIRECT_STDOUT",
	).With("GIT_TERMINAL_PROMPT=0", "GIT_NO_REPLACE_OBJECTS=1", "GIT_NO_LAZY_FETCH=1", "LC_ALL=C",
		// Without a guard, the parts of git that a killed copse leaves end with a silent remote.
		"GIT_HTTP_LOW_SPEED_LIMIT=1", fmt.Sprintf("GIT_HTTP_LOW_SPEED_TIME=%.0f", transferTime.Seconds()))
	if b.repo.Unattended {
		env = login.Silent(env)
	}
	for _, who := range []string{"AUTHOR", "COMMITTER"} {
		for name, value := range map[string]string{"NAME": b.repo.Name, "EMAIL": b.repo.Email} {
			if key := "GIT_" + who + "_" + name; env.Get(key) == "" && value != "" {
				env = env.With(key + "=" + value)
			}
		}
	}
	return env
}

// Tip returns the commit at the tip of the branch. Git does not have to have it: see Intact.
func (b *Branch) Tip(ctx context.Context) (Commit, error) {
	out, err := b.inRepository(ctx, "for-each-ref", "--format=%(objectname) %(objecttype)", b.ref)
	if err != nil { // without the object, git knows the name only
		out, err = b.inRepository(ctx, "for-each-ref", "--format=%(objectname) commit", b.ref)
	}
	if err != nil {
		return "", fmt.Errorf("read branch %q: %w", b.ref, err)
	}
	line := strings.TrimSpace(string(out))
	if line == "" {
		return "", nil
	}
	hash, kind, _ := strings.Cut(line, " ")
	if kind != "commit" || !objects.IsHash(hash) {
		return "", fmt.Errorf("branch %q is at no commit", b.ref)
	}
	return Commit(hash), nil
}

// Intact reports whether a commit is here with its files. A machine that loses power, or `git gc
// --prune=now` beside another git, can leave a branch without them. For such a commit, Intact removes
// files of objects that are empty: git takes one for the object, and does not write that again.
func (b *Branch) Intact(ctx context.Context, c Commit) (bool, error) {
	if c == "" || b.Has(ctx, c) {
		return true, nil
	}
	if err := b.repo.Writable(b.ref); err != nil {
		return false, err
	}
	dir := filepath.Join(b.repo.CommonDir(), "objects")
	root, err := regular.OpenRoot(dir)
	if err != nil {
		return false, fmt.Errorf("open the objects of the repository: %w", err)
	}
	defer root.Close()
	for first := range 1 << 8 {
		entries, err := regular.ReadDirIn(root, fmt.Sprintf("%02x", first))
		if err != nil {
			continue // git makes a directory when it needs it
		}
		for _, e := range entries {
			name := fmt.Sprintf("%02x", first) + e.Name()
			info, err := e.Info()
			if err != nil || !info.Mode().IsRegular() || info.Size() > 0 || !objects.IsHash(name) {
				continue
			}
			if err := root.Remove(name[:2] + "/" + e.Name()); err != nil {
				return false, fmt.Errorf("remove the empty object %s: %w", name, err)
			}
		}
	}
	return false, nil
}

// Move moves the branch to a commit. If it is not at from, the error is ErrMoved. It waits briefly
// while another git has locked the branch: one that a killed process has started, for example, ends by
// itself.
func (b *Branch) Move(ctx context.Context, to, from Commit) error {
	old := string(from)
	if old == "" {
		old = strings.Repeat("0", len(to))
	}
	if err := b.repo.Writable(b.ref); err != nil {
		return err
	}
	const shortest, longest, limit = time.Millisecond, time.Second, 3 * time.Second
	pauses := backoff.Start(shortest, longest)
	for {
		_, err := b.repo.Program().Brief().Run(ctx, slices.Concat(flushed, []string{"update-ref", "--no-deref", "--create-reflog", "-m", "copse: sync work items", b.ref, string(to), old})...)
		if err == nil {
			return nil
		}
		if now, tipErr := b.Tip(ctx); tipErr == nil && now != from {
			return ErrMoved
		}
		failed := fmt.Errorf("move branch %q: %w", b.ref, err)
		if !isLocked(err) {
			return failed
		}
		if err := pauses.Pause(ctx, limit); errors.Is(err, backoff.ErrLimit) {
			return failed
		} else if err != nil {
			return err
		}
	}
}

// isLocked reports whether git failed because another git has locked the branch.
func isLocked(err error) bool {
	exit, ok := errors.AsType[*xec.ExitError](err)
	return ok && strings.Contains(exit.Stderr, ".lock': File exists")
}

// Base returns the last common ancestor of two commits, empty if there is none.
func (b *Branch) Base(ctx context.Context, a, c Commit) (Commit, error) {
	if a == "" || c == "" {
		return "", nil
	}
	out, err := b.git(ctx, nil, "merge-base", string(a), string(c))
	if exit, ok := errors.AsType[*xec.ExitError](err); ok && exit.Code == 1 {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("find the common history: %w", err)
	}
	return Commit(strings.TrimSpace(string(out))), nil
}

// identity ensures that a commit has an author.
func (b *Branch) identity(ctx context.Context) {
	for _, who := range []string{"GIT_AUTHOR_IDENT", "GIT_COMMITTER_IDENT"} {
		if _, err := b.git(ctx, nil, "var", who); err != nil {
			b.repo.Name, b.repo.Email = cmp.Or(b.repo.Name, "copse"), cmp.Or(b.repo.Email, "copse@localhost")
		}
	}
}
