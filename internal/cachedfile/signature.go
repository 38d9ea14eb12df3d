package cachedfile

import (
	"io/fs"
	"time"
)

// signature is what stat tells about the content of a file. It is comparable.
type signature struct {
	size     int64
	modified int64 // nanoseconds since 1970
	identity identity
}

// identity is the part of a signature that not every system has: which file
// it is, and when it was last changed in any way, a time no program can set.
type identity struct {
	device, inode uint64
	changed       int64 // nanoseconds since 1970
}

func signatureOf(info fs.FileInfo) signature {
	return signature{
		size:     info.Size(),
		modified: info.ModTime().UnixNano(),
		identity: identityOf(info),
	}
}

// newest returns the time of the last change. The modification time counts as well
// because some network file systems make the change time up.
func (s signature) newest() time.Time {
	return time.Unix(0, max(s.modified, s.identity.changed))
}

// Signature is what stat tells about the content of a file, for those who keep what
// several files give together. It is comparable: files with different contents have
// different signatures, if the older one was settled when the file was read.
type Signature struct{ signature }

// SignatureOf returns the signature of a file.
func SignatureOf(info fs.FileInfo) Signature { return Signature{signatureOf(info)} }

// Settled reports whether the signature, taken at that time, tells of any later
// change: whether the last one is longer ago than a clock can be wrong.
func (s Signature) Settled(at time.Time) bool { return s.newest().Add(window).Before(at) }
