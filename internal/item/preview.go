package item

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

// Preview is what the deletion of an item would do.
type Preview struct {
	Item       Item
	Children   []*Summary // lose their parent
	Dependents []*Summary // lose a dependency
	// Fingerprint is the same as long as all of this is. Hand it to
	// Backend.Delete to delete what was seen and nothing else.
	Fingerprint Fingerprint
}

// Fingerprint stands for the content of a Preview. The empty one is for
// whatever there is.
type Fingerprint string

// Preview describes the deletion of an item, which must be as of the snapshot.
func (s *Snapshot) Preview(it Item) (Preview, error) {
	p := Preview{Item: it, Children: s.Children(it.ID), Dependents: s.Dependents(it.ID)}
	hash := sha256.New()
	content := p
	content.Item.Former = nil // a backend that changes the item need not know it
	if err := json.NewEncoder(hash).Encode(content); err != nil {
		return Preview{}, err
	}
	p.Fingerprint = Fingerprint(hex.EncodeToString(hash.Sum(nil)))
	return p, nil
}
