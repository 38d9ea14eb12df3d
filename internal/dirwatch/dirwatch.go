// Package dirwatch reports changes in directories exactly and immediately.
//
// The kernel queues an event before the call that changed a file returns, and
// [Watch.Changed] empties the queue before it returns. So every change that was complete
// before the call is reported, without a goroutine and without a wait. [Trees] counts the
// changes below many roots, for callers that only ask whether there were any.
//
// Only Linux has such a queue. Elsewhere, and on file systems that other machines or programs
// besides the kernel can change, [ErrUnsupported] means that the caller must check the files. Two
// changes have no event: a program that writes to a file that it mapped into memory, as long as it
// has it mapped, and one that writes to the file by a name in another directory.
//
// Package watch is for callers that want to be called when something changes.
package dirwatch

import "errors"

var (
	// ErrUnsupported reports that changes of a directory cannot be observed reliably.
	ErrUnsupported = errors.New("changes of this directory have no reliable events")
	// ErrLost reports that there were too many events. Anything can have changed, and the
	// watch has to be closed.
	ErrLost = errors.New("some events of changed files were lost")
	// ErrFull reports that the system has no watches to give.
	ErrFull = errors.New("the system has no watches left")
)

// Dir is a directory that a [Watch] watches.
type Dir int32

// Change is something that happened in a directory.
type Change struct {
	Dir Dir
	// Name is the name of the file, empty for the directory itself. It is valid until the
	// next change is reported.
	Name []byte
	// Made means that the file is a directory that appeared, which is not watched yet.
	Made bool
	// Ended means that the directory was moved or removed, so its path names something
	// else.
	Ended bool
}
