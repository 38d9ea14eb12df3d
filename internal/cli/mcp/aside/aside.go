// Package aside stores what a client's file cannot contain for now: members of an entry that have no
// meaning for its transport, and which objects were empty.
package aside

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"

	"github.com/copse-dev/copse/internal/clientconfig/jsonedit"
	"github.com/copse-dev/copse/internal/userdir"
)

// Store stores the arguments and variables of a person, or their headers, while an entry has another
// transport. The files can contain secrets that the client's file contained; only the user can read
// them.
type Store struct{ dir userdir.Dir }

// In returns the store in a directory of the user.
func In(dir userdir.Dir) Store { return Store{dir} }

// maxAside is the maximum size of a stored entry.
const maxAside = 1 << 20

func (a Store) file(path, entry string) string {
	sum := sha256.Sum256([]byte(path + "\x00" + entry))
	return hex.EncodeToString(sum[:8]) + ".json"
}

// Of returns the members that were set aside for an entry of a client's file, nil for none.
func (a Store) Of(path, entry string) map[string]any {
	data, err := a.dir.Read(a.file(path, entry), maxAside)
	var members map[string]any
	if err != nil || json.Unmarshal(data, &members) != nil {
		return nil
	}
	return members
}

// Keep stores the members in place of earlier ones.
func (a Store) Keep(path, entry string, members map[string]any) error {
	if len(members) == 0 {
		a.dir.Remove(a.file(path, entry))
		return nil
	}
	data, err := json.Marshal(members)
	if err != nil {
		return err
	}
	return a.dir.Replace(a.file(path, entry), data)
}

// emptied is the name under which the empty objects of a file are stored. No entry has it.
const emptied = "\x00empty"

// Empties returns the names of the objects in a client's file that were empty before copse changed
// them.
func (a Store) Empties(path string) []string {
	return slices.Sorted(maps.Keys(a.Of(path, emptied)))
}

// whole is the name of the file itself among those of its objects.
const whole = ""

// Restored returns the content of a client's file without copse: nothing, if the file was empty
// before and only an empty object is left.
func (a Store) Restored(path string, after []byte) []byte {
	if string(bytes.TrimSpace(after)) == "{}" && slices.Contains(a.Empties(path), whole) {
		return []byte{}
	}
	return after
}

// NoteEmpties stores the names of the empty objects in a client's file that copse is about to change,
// and whether the file is empty. before is its content, nil if it does not exist.
func (a Store) NoteEmpties(path string, before []byte) error {
	names, empty := a.Of(path, emptied), jsonedit.EmptyObjects(before)
	if before != nil && len(before) == 0 {
		empty = append(empty, whole)
	}
	for _, name := range empty {
		if names == nil {
			names = make(map[string]any)
		}
		names[name] = true
	}
	return a.Keep(path, emptied, names)
}

// ForgetEmpties removes the names of the objects that are empty again.
func (a Store) ForgetEmpties(path string, after []byte) error {
	names := a.Of(path, emptied)
	for _, name := range jsonedit.EmptyObjects(after) {
		delete(names, name)
	}
	if len(after) == 0 {
		delete(names, whole)
	}
	return a.Keep(path, emptied, names)
}
