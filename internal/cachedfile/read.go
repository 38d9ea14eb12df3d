package cachedfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/copse-dev/copse/internal/regular"
)

// attempts is how often a file that changes during a read is read again before the last result is
// used.
const attempts = 3

// content is the content of a file. No change after read has the signature sig, unless it falls
// into the same tick of the file system's clock.
type content struct {
	bytes []byte
	sig   Signature
	read  time.Time
}

func (f *File[T]) read() (content, error) {
	file, _, err := regular.OpenWith(f.path, f.acceptable, f.stat, f.open)
	if err != nil {
		return content{}, withoutPath(err)
	}
	defer file.Close()

	var c content
	for range attempts {
		var stable bool
		if c, stable, err = f.readOnce(file); err != nil {
			return content{}, withoutPath(err)
		}
		if stable {
			break
		}
	}
	return c, nil
}

// readOnce reads file from its start; stable reports that it did not change in the meantime.
func (f *File[T]) readOnce(file *os.File) (c content, stable bool, err error) {
	read := f.now()
	before, err := file.Stat()
	if err != nil {
		return content{}, false, err
	}
	if err := f.acceptable(before); err != nil {
		return content{}, false, err
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return content{}, false, err
	}
	data, err := regular.ReadAll(file, before.Size(), f.limit)
	if err != nil {
		return content{}, false, err
	}
	after, err := file.Stat()
	if err != nil {
		return content{}, false, err
	}
	sig := SignatureOf(before)
	return content{bytes: data, sig: sig, read: read}, sig == SignatureOf(after), nil
}

func (f *File[T]) acceptable(info fs.FileInfo) error { return regular.Check(info, f.limit) }

// withoutPath returns only the cause of an error that names a path.
func withoutPath(err error) error {
	if named, ok := errors.AsType[*fs.PathError](err); ok {
		return named.Err
	}
	return err
}

// NotRegularError reports that the file is not a regular file.
type NotRegularError = regular.NotRegularError

// TooLargeError reports that the file has more bytes than the File's limit.
type TooLargeError = regular.TooLargeError
