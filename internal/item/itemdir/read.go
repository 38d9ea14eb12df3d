package itemdir

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/copse-dev/copse/internal/cachedfile"
	"github.com/copse-dev/copse/internal/item/ticfile"
	"github.com/copse-dev/copse/internal/regular"
	"github.com/copse-dev/copse/internal/rooted"
)

// ReadFile reads a complete file of root. Errors name no path, and continue after the name of the
// file; a missing one is fs.ErrNotExist.
func ReadFile(root *os.Root, name string) (string, error) {
	text, _, err := readFile(root, name, new(bytes.Buffer), func(int64) bool { return true })
	return text, err
}

// errNoSpace reports that a file does not fit.
var errNoSpace = errors.New("does not fit")

// readFile reads a complete file of root into buf, if it fits: see there for the size. The stamp is
// from before, so that a change while it is read gives the file another one. Errors are those of
// [ReadFile], and errNoSpace.
func readFile(root *os.Root, name string, buf *bytes.Buffer, fits func(size int64) bool) (text string, from cachedfile.Signature, err error) {
	file, err := root.OpenFile(name, regular.Flags, 0)
	if err != nil {
		return "", cachedfile.Signature{}, Unreadable(err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return "", cachedfile.Signature{}, Unreadable(err)
	}
	if err := CheckRegular(info.Mode()); err != nil {
		return "", cachedfile.Signature{}, err
	}
	from = cachedfile.SignatureOf(info)
	if from.Size > ticfile.MaxSize {
		return "", from, fmt.Errorf("has %d bytes; the limit is %d", from.Size, ticfile.MaxSize)
	}
	if !fits(from.Size) {
		return "", from, errNoSpace
	}
	buf.Reset()
	buf.Grow(int(from.Size) + bytes.MinRead) // or it would grow at the end of the file
	if _, err := buf.ReadFrom(io.LimitReader(file, ticfile.MaxSize+1)); err != nil {
		return "", from, Unreadable(err)
	}
	return buf.String(), from, nil
}

// Unreadable describes the error of a file that cannot be read.
func Unreadable(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fs.ErrNotExist
	}
	return fmt.Errorf("cannot be read: %w", rooted.WithoutPath(err))
}

// CheckRegular refuses all but regular files. It does not follow links: they could lead anywhere,
// and a repository can contain them.
func CheckRegular(mode fs.FileMode) error {
	switch {
	case mode.IsRegular():
		return nil
	case mode&fs.ModeSymlink != 0:
		return errors.New("is a symbolic link, which is not followed; replace it with the file")
	case mode.IsDir():
		return errors.New("is a directory")
	}
	return errors.New("is not a regular file")
}
