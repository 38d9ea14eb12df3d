package mcp

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"github.com/copse-dev/copse/internal/userdir"
)

// asides stores what the entries of clients cannot contain while they have another transport: the
// arguments and variables of a person, or their headers. The files can contain secrets that the
// client's file contained; only the user can read them.
type asides struct{ dir userdir.Dir }

// maxAside is the maximum size of a stored entry.
const maxAside = 1 << 20

func (a asides) file(path, entry string) string {
	sum := sha256.Sum256([]byte(path + "\x00" + entry))
	return hex.EncodeToString(sum[:8]) + ".json"
}

// of returns the members that were set aside for an entry of a client's file, nil for none.
func (a asides) of(path, entry string) map[string]any {
	data, err := a.dir.Read(a.file(path, entry), maxAside)
	var members map[string]any
	if err != nil || json.Unmarshal(data, &members) != nil {
		return nil
	}
	return members
}

// keep stores the members in place of earlier ones.
func (a asides) keep(path, entry string, members map[string]any) error {
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
