// Package claimfile implements the format of the files with the claims of a store: one for each
// claim, named by [Name] after the item and its creation time, with the JSON of a [Record].
//
// A damaged file, or one with another name, is not a claim. Strings of other machines are cut to a
// length; code that displays them must clean them.
package claimfile

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/claim"
)

// Directory is the directory of claims in a store that clones share.
const Directory = "claims"

const (
	// Extension ends the name of a file.
	Extension = ".json"
	// MaxSize is the size of the largest file that is read.
	MaxSize = 64 << 10
	// maxStamp is how many characters of a time of creation are in a name.
	maxStamp = 64
)

// Record is the claim of an item.
type Record struct {
	Item item.ID `json:"item"`
	// Created is the item's creation time, from its file: a merge or another branch can give its
	// number to another item.
	Created string `json:"created"`
	claim.Claim
}

// Name returns the name of the file for the claim of an item, without its directory.
func Name(id item.ID, created string) string { return Key(id, created) + Extension }

// Key returns a permanent identifier of an item, for the names of files.
func Key(id item.ID, created string) string {
	stamp := strings.Map(func(r rune) rune {
		if '0' <= r && r <= '9' || 'A' <= r && r <= 'Z' {
			return r
		}
		return -1
	}, created)
	return id.String() + "-" + stamp[:min(len(stamp), maxStamp)]
}

// Text returns the content of a file. A claim that no reader would read is an error.
func (r Record) Text() (string, error) {
	data, err := json.Marshal(r)
	if err != nil {
		return "", fmt.Errorf("write a claim: %w", err)
	}
	if len(data) >= MaxSize {
		return "", fmt.Errorf("write a claim: it would have %d bytes, and the limit is %d", len(data)+1, MaxSize)
	}
	return string(data) + "\n", nil
}

// Parse reads a file that has a name; false if it has no claim. A renewal more than the longest
// lease after now is none: even with a clock that is wrong, nobody made it.
func Parse(name, text string, now time.Time) (Record, bool) {
	var r Record
	if len(text) > MaxSize || json.Unmarshal([]byte(text), &r) != nil || Name(r.Item, r.Created) != name || r.Renewed.Sub(now) > claim.MaxLease {
		return Record{}, false
	}
	if r.Expires.Sub(r.Renewed) > claim.MaxLease { // nobody can have asked for that
		r.Expires = r.Renewed.Add(claim.MaxLease)
	}
	return r, true
}

// Merge returns the valid one of two claims of an item in two clones that had base before. If only
// one clone changed the claim, that one is valid. Of two renewals by one holder, the later one is.
// Of two others, the published one is, unless it has ended. theirs is the published one.
func Merge(name, base, ours, theirs string, now time.Time) string {
	other, readable := Parse(name, theirs, now)
	switch own, known := Parse(name, ours, now); {
	case theirs == base || !readable:
		return ours
	case ours == base:
		return theirs
	case known && own.Holder == other.Holder && own.Renewed.After(other.Renewed), other.Ended(now):
		return ours
	}
	return theirs
}
