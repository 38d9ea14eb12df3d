package cachedfile

import (
	"io/fs"
	"time"
)

// Signature is the data of stat about the content of a file. It is comparable: files with different
// contents have different signatures if the older one was settled when the file was read. Callers
// that cache a result of several files use it.
type Signature struct {
	Size     int64
	Modified int64 // nanoseconds since 1970
	Identity
}

// Identity is the part of a signature that only some systems have: the identity of the file, and
// the time of its last change of any kind, which no program can set. It is zero on the others.
type Identity struct {
	Device, Inode uint64
	Changed       int64 // nanoseconds since 1970
}

// SignatureOf returns the signature of a file.
func SignatureOf(info fs.FileInfo) Signature {
	return Signature{Size: info.Size(), Modified: info.ModTime().UnixNano(), Identity: identityOf(info)}
}

// newest returns the time of the last change. The modification time counts as well, because some
// network file systems invent the change time.
func (s Signature) newest() time.Time { return time.Unix(0, max(s.Modified, s.Changed)) }

// Settled reports whether the signature, taken at that time, reveals any later change: whether the
// last change is longer ago than the possible error of a clock.
func (s Signature) Settled(at time.Time) bool { return s.newest().Add(window).Before(at) }
