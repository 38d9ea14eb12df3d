// Package refstore reads the refs of a git repository from its files, without running git: loose
// refs, packed refs, HEAD, symbolic refs. It does not read the other format, reftable.
//
// A [Store] answers from the state on disk at the time of the call. [Store.Branches] caches the
// content of a directory, and of packed-refs, while the directory's or file's modification time,
// size, and identity stay the same. If the last modification was less than two seconds before the
// read, it reads again, because a coarse clock may not show a second change. The only undetected
// change is that of a ref file that a program other than git rewrites in place. The other methods
// detect that change, too: they cache the value of a ref by its own file.
//
// The package writes nothing and takes no lock. Git replaces files as a whole, so a concurrent read
// sees the old or the new value of each ref.
//
// A ref is broken if its file contains neither a hash nor the name of another ref, if it names a
// ref that does not exist, or if its name is invalid. Like "git for-each-ref", lists omit broken
// refs, and a broken loose ref hides a packed one. A ref whose file cannot be read is not broken: lists
// contain it, and its value is an error.
package refstore

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/copse-dev/copse/internal/regular"
)

// BranchPrefix begins the full name of a branch.
const BranchPrefix = "refs/heads/"

// ErrBroken reports that a ref exists but has no value.
var ErrBroken = errors.New("broken ref")

// Store reads the refs of one worktree. It is safe for concurrent use.
type Store struct {
	gitDir, commonDir string
	hashLen           int

	loose looseValues

	mu     sync.Mutex // guards the fields below
	heads  directory
	packed packedRefs
	merged []string // the branches in both; nil if it must be created again
	links  []string // those of merged that are symbolic refs
}

// New returns the store of the worktree whose directory is gitDir. All worktrees share commonDir.
// The names of objects have hashLen digits.
func New(gitDir, commonDir string, hashLen int) *Store {
	return &Store{
		gitDir: gitDir, commonDir: commonDir, hashLen: hashLen,
		loose: looseValues{now: time.Now, known: map[string]looseValue{}},
	}
}

// Ref is the end of a chain of symbolic refs.
type Ref struct {
	// Name is the full name of the ref the chain ends at.
	Name string
	// Hash is the object of the ref; empty if there is no such ref.
	Hash string
}

// maxLoose is the maximum size of the file of a loose ref.
const maxLoose = 64 << 10

// maxDepth is git's limit on symbolic refs that point to symbolic refs.
const maxDepth = 5

// Resolve follows the ref with the given full name. A chain that ends at a ref that does not exist
// is not an error. With [ErrBroken], the name of the result is that of the broken ref.
func (s *Store) Resolve(name string) (Ref, error) {
	for range maxDepth {
		v, err := s.read(name)
		switch {
		case err != nil:
			return Ref{Name: name}, fmt.Errorf("read ref %q: %w", name, err)
		case v.kind == symbolic:
			name = v.text
		case v.kind == broken:
			return Ref{Name: name}, fmt.Errorf("read ref %q: %w", name, ErrBroken)
		default:
			return Ref{Name: name, Hash: v.text}, nil
		}
	}
	return Ref{Name: name}, fmt.Errorf("read ref %q: %w: more than %d symbolic refs in a row", name, ErrBroken, maxDepth)
}

// Target returns the name in the symbolic ref name, whether that ref exists or not; "" if name is
// not a symbolic ref.
func (s *Store) Target(name string) (string, error) {
	v, err := s.read(name)
	if err != nil {
		return "", fmt.Errorf("read ref %q: %w", name, err)
	}
	if v.kind != symbolic {
		return "", nil
	}
	return v.text, nil
}

// HasBranch reports whether Branches would list the name.
func (s *Store) HasBranch(name string) (bool, error) {
	ref, err := s.Resolve(BranchPrefix + name)
	if errors.Is(err, ErrBroken) {
		return false, nil
	}
	return ref.Hash != "", err
}

type kind int

const (
	missing  kind = iota
	direct        // text is a hash
	symbolic      // text is the name of a ref
	broken
	unread // the file is there, and the system does not show its content now
)

// value is the content of one ref.
type value struct {
	kind kind
	text string
}

// read returns the value of a ref, loose or packed.
func (s *Store) read(name string) (value, error) {
	if !ValidName(name) {
		return value{kind: broken}, nil
	}
	v, err := s.loose.read(s.path(name), s.hashLen)
	if err != nil || v.kind != missing || !strings.HasPrefix(name, "refs/") {
		return v, err
	}
	hash, err := s.packedHash(name)
	if err != nil || hash == "" {
		return value{}, err
	}
	return value{direct, hash}, nil
}

// readLoose reads the ref in the file at path.
func readLoose(path string, hashLen int) (value, error) {
	fi, err := os.Lstat(path)
	return readFound(path, fi, err, hashLen)
}

// readFound is readLoose for a caller that has examined the file.
func readFound(path string, fi fs.FileInfo, err error, hashLen int) (value, error) {
	switch {
	case regular.Absent(err):
		return value{}, nil
	case err != nil:
		return value{}, err
	case fi.Mode()&fs.ModeSymlink != 0:
		// The oldest form of a symbolic ref.
		target, err := os.Readlink(path)
		if target = filepath.ToSlash(target); err == nil && strings.HasPrefix(target, "refs/") && ValidName(target) {
			return value{symbolic, target}, nil
		}
		// Git follows another link, which can lead to a ref of another repository.
		return value{kind: broken}, nil
	case fi.IsDir():
		return value{}, nil
	case !fi.Mode().IsRegular():
		return value{kind: broken}, nil
	}
	text, err := regular.Read(path, maxLoose)
	if regular.Absent(err) {
		return value{}, nil // packed or deleted just now
	}
	if err != nil {
		return value{}, err
	}
	return parseLoose(text, hashLen), nil
}

// path returns the path of a loose ref. Refs of one worktree are next to its HEAD.
func (s *Store) path(name string) string {
	dir := s.gitDir
	if strings.HasPrefix(name, "refs/") && !perWorktree(name) {
		dir = s.commonDir
	}
	return filepath.Join(dir, filepath.FromSlash(name))
}

func perWorktree(name string) bool {
	for _, prefix := range []string{"refs/bisect/", "refs/worktree/", "refs/rewritten/"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// parseLoose reads the text of a loose ref: a hash, or "ref:" and a name. More text may follow the
// hash after a blank.
func parseLoose(text []byte, hashLen int) value {
	s := strings.TrimRight(string(text), blanks)
	if target, ok := strings.CutPrefix(s, "ref:"); ok {
		if target = strings.TrimLeft(target, blanks); ValidName(target) {
			return value{symbolic, target}
		}
		return value{kind: broken}
	}
	if len(s) < hashLen || len(s) > hashLen && !strings.Contains(blanks, s[hashLen:hashLen+1]) {
		return value{kind: broken}
	}
	hash := strings.ToLower(s[:hashLen])
	if strings.Trim(hash, "0123456789abcdef") != "" || strings.Trim(hash, "0") == "" {
		return value{kind: broken}
	}
	return value{direct, hash}
}

const blanks = " \t\n\r"
