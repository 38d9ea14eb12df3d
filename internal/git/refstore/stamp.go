package refstore

import (
	"io/fs"
	"os"
	"time"
)

// coarse is the coarsest clock of a file system in use.
const coarse = 2 * time.Second

// stamp is the state in which a file or directory was read. The zero stamp equals no state.
type stamp struct{ info fs.FileInfo }

// newStamp returns the stamp of fi, taken just before reading. It is the zero stamp if another
// change now could leave the modification time unchanged.
func newStamp(fi fs.FileInfo) stamp {
	if time.Since(fi.ModTime()) <= coarse {
		return stamp{}
	}
	return stamp{fi}
}

func (s stamp) same(fi fs.FileInfo) bool {
	return s.info != nil && s.info.ModTime().Equal(fi.ModTime()) &&
		s.info.Size() == fi.Size() && os.SameFile(s.info, fi)
}
