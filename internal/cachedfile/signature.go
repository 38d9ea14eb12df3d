package cachedfile

import (
	"io/fs"
	"time"
)

// signature is the data of stat about the content of a file. It is comparable.
type signature struct {
	size     int64
	modified int64 // nanoseconds since 1970
	identity identity
}

// identity is the part of a signature that only some systems have: the identity of the file, and
// the time of its last change of any kind, which no program can set.
type identity struct {
	device, inode uint64
	changed       int64 // nanoseconds since 1970
}

// Identity returns the identity of a file, and the time of its last change of any kind in nanoseconds
// since 1970; zeros if the system does not say.
func Identity(info fs.FileInfo) (device, inode uint64, changed int64) {
	i := identityOf(info)
	return i.device, i.inode, i.changed
}

func signatureOf(info fs.FileInfo) signature {
	return signature{
		size:     info.Size(),
		modified: info.ModTime().UnixNano(),
		identity: identityOf(info),
	}
}

// newest returns the time of the last change. The modification time counts as well, because some
// network file systems invent the change time.
func (s signature) newest() time.Time {
	return time.Unix(0, max(s.modified, s.identity.changed))
}

// Signature is the data of stat about the content of a file, for callers that cache a result of
// several files. It is comparable: files with different contents have different signatures if the
// older one was settled when the file was read.
type Signature struct{ signature }

// SignatureOf returns the signature of a file.
func SignatureOf(info fs.FileInfo) Signature { return Signature{signatureOf(info)} }

// Settled reports whether the signature, taken at that time, reveals any later change: whether the
// last change is longer ago than the possible error of a clock.
func (s Signature) Settled(at time.Time) bool { return s.newest().Add(window).Before(at) }
