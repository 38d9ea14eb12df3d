// Package bearer keeps the token that a user's servers demand, in a file that nobody
// else can read.
//
// [File.Token] reads it, and makes one where there is none; [File.Rotate] makes another.
// A token has 160 random bits. A file that others could read is refused: who may have
// seen the token can use it for good.
package bearer

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/copse-dev/copse/internal/lockedstore"
)

// File is where the token is.
type File struct{ path string }

// New returns the file at path. Nothing is read yet.
func New(path string) *File { return &File{path: path} }

// ErrExposed says that others can read the file.
var ErrExposed = errors.New("the token's file can be read by others, who may know the token; `copse up --rotate-token` makes a new one")

// maxToken is how long a token can be that a user has put there.
const maxToken = 1024

// Token returns the token.
func (f *File) Token(ctx context.Context) (string, error) {
	info, err := os.Lstat(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return f.write(ctx, false)
	}
	if err != nil {
		return "", fmt.Errorf("read token: %w", lockedstore.WithoutPath(err))
	}
	if !info.Mode().IsRegular() || info.Size() > maxToken {
		return "", errors.New("read token: its file is not a small regular file; remove it")
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return "", ErrExposed
	}
	data, err := os.ReadFile(f.path)
	if err != nil {
		return "", fmt.Errorf("read token: %w", lockedstore.WithoutPath(err))
	}
	token := string(bytes.TrimSpace(data))
	if token == "" {
		return f.write(ctx, false)
	}
	return token, nil
}

// Rotate makes another token and returns it.
func (f *File) Rotate(ctx context.Context) (string, error) { return f.write(ctx, true) }

// wait is how long another process may be writing.
const wait = 2 * time.Second

// write makes a token; one that another process has made meanwhile stays, unless a new
// one is wanted.
func (f *File) write(ctx context.Context, anew bool) (string, error) {
	if err := os.MkdirAll(filepath.Dir(f.path), 0o700); err != nil {
		return "", fmt.Errorf("write token: %w", lockedstore.WithoutPath(err))
	}
	if info, err := os.Lstat(f.path); err == nil && anew && !info.Mode().IsRegular() {
		// It would be followed to where others may read.
		if err := os.Remove(f.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("write token: %w", lockedstore.WithoutPath(err))
		}
	}
	var token string
	// The file is replaced, not changed: whoever has the old one open, or a link to it, does
	// not see the new token, and a process that is killed leaves one of the two.
	err := lockedstore.EditPrivate(ctx, f.path, wait, func(old []byte) ([]byte, error) {
		if token = string(bytes.TrimSpace(old)); token != "" && !anew {
			return old, nil
		}
		token = rand.Text() + rand.Text()[:6]
		return []byte(token + "\n"), nil
	})
	if err != nil {
		return "", fmt.Errorf("write token: %w", err)
	}
	return token, nil
}
