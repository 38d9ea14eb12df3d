package refstore

import (
	"strings"
	"sync"
)

// Hashes returns the hashes of refs by their full names. It omits refs that do not exist or are
// broken. It reads packed-refs a limited number of times, however many refs there are.
func (s *Store) Hashes(names []string) (map[string]string, error) {
	hashes := make(map[string]string, len(names))
	pending := make(map[string][]string, len(names)) // the names that lead to a ref
	for _, name := range names {
		pending[name] = []string{name}
	}
	for depth := 0; depth < maxDepth && len(pending) > 0; depth++ {
		found, next, err := s.step(pending)
		if err != nil {
			return nil, err
		}
		for ref, hash := range found {
			for _, name := range pending[ref] {
				hashes[name] = hash
			}
		}
		pending = next
	}
	return hashes, nil
}

// step reads the refs of pending. It returns the hashes of some, and the refs to which others lead,
// with the names of those.
func (s *Store) step(pending map[string][]string) (found map[string]string, next map[string][]string, err error) {
	found, next = make(map[string]string), make(map[string][]string)
	packed := make(map[string]string)
	for ref, names := range pending {
		if !ValidName(ref) {
			continue
		}
		v, err := s.loose.read(s.path(ref), s.hashLen)
		switch {
		case err != nil:
			return nil, nil, err
		case v.kind == symbolic:
			next[v.text] = append(next[v.text], names...)
		case v.kind == direct:
			found[ref] = v.text
		case v.kind == missing && strings.HasPrefix(ref, "refs/"):
			packed[ref] = ""
		}
	}
	if err := s.packedHashes(packed); err != nil {
		return nil, nil, err
	}
	for ref, hash := range packed {
		if hash != "" {
			found[ref] = hash
		}
	}
	return found, next, nil
}

// packedHashes sets the hashes of the packed refs in wanted.
func (s *Store) packedHashes(wanted map[string]string) error {
	shared, others := "", 0
	branches := sync.OnceValues(s.packedBranches) // a file that has just changed is read again each time
	for name := range wanted {
		if branch, ok := strings.CutPrefix(name, BranchPrefix); ok {
			all, err := branches()
			if err != nil {
				return err
			}
			wanted[name] = hashOf(all, branch)
			continue
		}
		if others++; others == 1 {
			shared = name
		}
		for !strings.HasPrefix(name, shared) {
			shared = shared[:len(shared)-1]
		}
	}
	if others == 0 {
		return nil
	}
	return scanFile(s.packedPath(), shared, s.hashLen, func(ref packedRef) bool {
		name := shared + ref.name
		if hash, ok := wanted[name]; ok && hash == "" {
			wanted[name] = ref.hash
			others--
		}
		return others > 0
	})
}
