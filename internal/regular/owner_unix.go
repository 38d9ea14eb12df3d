//go:build unix

package regular

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// WithOwner adds the account that a file or its directory belongs to, if that is why the error is
// fs.ErrPermission: the file at an absolute path, or the outermost directory above it that belongs neither to the
// user nor is in the directory of another account. What belongs to root there was made with sudo, so the error
// then has a command.
func WithOwner(err error, path string) error {
	if !errors.Is(err, fs.ErrPermission) || !filepath.IsAbs(path) {
		return err
	}
	theirs, owner := "", uint32(0)
	for at := path; ; at = filepath.Dir(at) {
		if info, statErr := os.Lstat(at); statErr == nil {
			stat, ok := info.Sys().(*syscall.Stat_t)
			if !ok || int(stat.Uid) == os.Geteuid() {
				break
			}
			theirs, owner = at, stat.Uid
		}
		if at == filepath.Dir(at) {
			return err // all of it belongs to others
		}
	}
	switch {
	case theirs == "":
		return err
	case owner != 0:
		return fmt.Errorf("%w; %q belongs to the account %d", err, theirs, owner)
	case strings.ContainsFunc(theirs, special):
		return fmt.Errorf("%w; %q belongs to root, as after a command with sudo; make it yours with `sudo chown -R`", err, theirs)
	}
	return fmt.Errorf("%w; it belongs to root, as after a command with sudo; run `sudo chown -R %d %s`", err, os.Geteuid(), theirs)
}

// special reports whether a character is not only itself in a shell.
func special(r rune) bool {
	letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
	return !letter && (r < '0' || r > '9') && !strings.ContainsRune("/._-+@", r)
}
