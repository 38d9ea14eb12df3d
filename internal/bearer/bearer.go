// Package bearer stores the tokens that a user's servers require, each in a file that only the user
// can read.
//
// A [Store] has one [File] for each server, so a token opens one server and no other. [File.Token]
// reads it, and creates it if there is none; [File.Rotate] replaces it. A token has 160 random bits
// after [Prefix]. A file that others could read is an error: anyone who has seen the token could
// use it forever.
package bearer

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/copse-dev/copse/internal/lockedstore"
	"github.com/copse-dev/copse/internal/ownership"
	"github.com/copse-dev/copse/internal/regular"
	"github.com/copse-dev/copse/internal/rooted"
)

// Prefix begins every token, so people and secret scanners recognize one.
const Prefix = "copse_"

// Store is a directory of tokens.
type Store struct{ dir string }

// NewStore returns the store in a directory. It reads nothing yet.
func NewStore(dir string) Store { return Store{dir} }

// suffix ends the names of the files.
const suffix = ".token"

// File returns the file with the token of the server with this key.
func (s Store) File(key string) *File {
	sum := sha256.Sum256([]byte(key))
	return New(filepath.Join(s.dir, hex.EncodeToString(sum[:])[:16]+suffix))
}

// Rotate replaces all existing tokens, and returns their number.
func (s Store) Rotate(ctx context.Context) (int, error) {
	entries, err := regular.ReadDir(s.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, fmt.Errorf("read tokens: %w", rooted.WithoutPath(err))
	}
	n := 0
	for _, e := range entries {
		if filepath.Ext(e.Name()) != suffix {
			continue
		}
		if _, err := New(filepath.Join(s.dir, e.Name())).Rotate(ctx); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// File is the file of a token.
type File struct{ path string }

// New returns the file at path. It reads nothing yet.
func New(path string) *File { return &File{path: path} }

// Path returns the path of the file.
func (f *File) Path() string { return f.path }

// ErrExposed reports that other users can read the file.
var ErrExposed = errors.New("other users can read the token's file and may know the token; `copse up --rotate-token` creates a new one")

// maxToken is the maximum length of a token that a user has set.
const maxToken = 1024

// Token returns the token.
func (f *File) Token(ctx context.Context) (string, error) {
	info, err := os.Lstat(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return f.write(ctx, false)
	}
	if err != nil {
		return "", fmt.Errorf("read token: %w", rooted.WithoutPath(err))
	}
	if !info.Mode().IsRegular() || info.Size() > maxToken {
		return "", errors.New("read token: its file is not a small regular file; remove it")
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return "", ErrExposed
	}
	data, err := regular.Read(f.path, maxToken)
	if err != nil {
		return "", fmt.Errorf("read token: %w", regular.WithOwner(rooted.WithoutPath(err), f.path))
	}
	token := string(bytes.TrimSpace(data))
	if token == "" {
		return f.write(ctx, false)
	}
	return token, nil
}

// Rotate creates another token and returns it.
func (f *File) Rotate(ctx context.Context) (string, error) { return f.write(ctx, true) }

// wait is how long another process may take to write.
const wait = 2 * time.Second

// write creates a token. If another process has created one in the meantime, that one stays, unless
// the caller requires a new one.
func (f *File) write(ctx context.Context, anew bool) (string, error) {
	if err := ownership.MakeAll(filepath.Dir(f.path)); err != nil {
		return "", fmt.Errorf("write token: %w", rooted.WithoutPath(err))
	}
	if info, err := os.Lstat(f.path); err == nil && anew && !info.Mode().IsRegular() {
		// Following the link could lead to a place that others can read.
		if err := os.Remove(f.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("write token: %w", rooted.WithoutPath(err))
		}
	}
	var token string
	// The file is replaced, not changed: a process that has the old file open, or a link to it,
	// does not see the new token, and a killed process leaves one of the two.
	err := lockedstore.EditSecret(ctx, f.path, wait, func(old []byte) ([]byte, error) {
		if token = string(bytes.TrimSpace(old)); token != "" && !anew {
			return old, nil
		}
		token = Prefix + rand.Text() + rand.Text()[:6]
		return []byte(token + "\n"), nil
	})
	if err != nil {
		return "", fmt.Errorf("write token: %w", err)
	}
	return token, nil
}
