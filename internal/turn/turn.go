// Package turn lets the processes of one user query a service one after the other, so each finds
// the answer of the previous one, and stores until when a service asked clients to wait.
//
// Use a [Dir]. [Dir.Take] waits for the turn; the system ends the turn of a killed process.
// [Dir.Pause] and [Dir.Paused] are about a rate limit. The package does not use a directory that
// others can enter; then no process waits, and nothing is stored.
package turn

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"time"

	"github.com/gofrs/flock"

	"github.com/copse-dev/copse/internal/userdir"
)

// Dir is the directory of the locks; "" for none.
type Dir string

const (
	// retry is the time between two tries to take a turn.
	retry = 50 * time.Millisecond
	// patience is the maximum time to wait for a turn: its process can be stopped, and never end it.
	patience = 5 * time.Second
	// maxNote is the size of the largest note that is read.
	maxNote = 100
	// longest is the maximum time that a service can ask clients to wait.
	longest = 24 * time.Hour
)

// file returns the name of a file about something.
func file(about, ending string) string {
	const digits = 32
	sum := sha256.Sum256([]byte(about))
	return hex.EncodeToString(sum[:])[:digits] + ending
}

// Take waits until no other process has the turn for something, but not for longer than five seconds
// or until ctx ends, and returns a function that releases it. If there is no lock, it returns
// immediately.
func (d Dir) Take(ctx context.Context, about string) (release func()) {
	if !userdir.Dir(d).Make() {
		return func() {}
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	lock := flock.New(userdir.Dir(d).Path(file(about, ".lock")), flock.SetPermissions(0o600))
	if held, err := lock.TryLockContext(ctx, retry); err != nil || !held {
		return func() {}
	}
	return func() { _ = lock.Close() } // the lock ends with it
}

// Pause records that something must not be requested until a time.
func (d Dir) Pause(about string, until time.Time) error {
	return userdir.Dir(d).Replace(file(about, ".rest"), []byte(until.UTC().Format(time.RFC3339)))
}

// Paused returns until when something must not be requested, and whether that is after now.
func (d Dir) Paused(about string, now time.Time) (until time.Time, paused bool) {
	if d == "" {
		return time.Time{}, false
	}
	text, err := userdir.Dir(d).Read(file(about, ".rest"), maxNote)
	if err != nil {
		return time.Time{}, false // nobody asked for it
	}
	until, err = time.Parse(time.RFC3339, string(text))
	if err != nil || !until.After(now) || until.Sub(now) > longest {
		_ = os.Remove(userdir.Dir(d).Path(file(about, ".rest")))
		return time.Time{}, false
	}
	return until, true
}
