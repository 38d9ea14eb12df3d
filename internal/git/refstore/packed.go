package refstore

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/copse-dev/copse/internal/regular"
)

// packedRefs is the cached content of the file packed-refs: the branches, sorted by name. Other
// refs, often many times as many, are looked up in the file.
type packedRefs struct {
	seen     stamp
	branches []packedRef
}

type packedRef struct{ name, hash string } // name without refs/heads/

// loadPacked updates s.packed and reports whether it has changed.
func (s *Store) loadPacked() (changed bool, err error) {
	path := s.packedPath()
	fi, err := os.Stat(path)
	if regular.Absent(err) {
		changed = len(s.packed.branches) > 0
		s.packed = packedRefs{}
		return changed, nil
	}
	if err != nil {
		return false, fmt.Errorf("read packed refs: %w", err)
	}
	if s.packed.seen.same(fi) {
		return false, nil
	}
	seen := newStamp(fi)
	var branches []packedRef
	err = scanFile(path, BranchPrefix, s.hashLen, func(ref packedRef) bool {
		branches = append(branches, ref)
		return true
	})
	if err != nil {
		return false, err
	}
	slices.SortFunc(branches, func(a, b packedRef) int { return strings.Compare(a.name, b.name) })
	s.packed = packedRefs{seen: seen, branches: branches}
	return true, nil
}

// packedBranches returns the packed branches, sorted. It reads the file only if that may have changed.
func (s *Store) packedBranches() ([]packedRef, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	changed, err := s.loadPacked()
	if err != nil {
		return nil, err
	}
	if changed {
		s.merged = nil
	}
	return s.packed.branches, nil
}

// hashOf returns the hash of a branch in a sorted list, "" if it is not there.
func hashOf(branches []packedRef, branch string) string {
	i, found := slices.BinarySearchFunc(branches, branch, func(r packedRef, name string) int {
		return strings.Compare(r.name, name)
	})
	if !found {
		return ""
	}
	return branches[i].hash
}

// packedHash returns the hash of one packed ref, "" if it is not packed.
func (s *Store) packedHash(name string) (string, error) {
	if branch, ok := strings.CutPrefix(name, BranchPrefix); ok {
		branches, err := s.packedBranches()
		return hashOf(branches, branch), err
	}
	var hash string
	err := scanFile(s.packedPath(), name, s.hashLen, func(ref packedRef) bool {
		if ref.name == "" {
			hash = ref.hash
		}
		return hash == ""
	})
	return hash, err
}

// None reports that no ref has the given full name, or begins with it if it ends with a slash.
func (s *Store) None(name string) bool {
	if _, err := os.Lstat(s.path(name)); !regular.Absent(err) {
		return false
	}
	none := true
	err := scanFile(s.packedPath(), name, s.hashLen, func(ref packedRef) bool {
		none = ref.name != "" && !strings.HasSuffix(name, "/")
		return none
	})
	return none && err == nil
}

func (s *Store) packedPath() string { return filepath.Join(s.commonDir, "packed-refs") }

// maxPacked is the maximum size of packed-refs: some ten million refs.
const maxPacked = 1 << 30

// scanFile calls scanPacked for the file at path, which may not exist.
func scanFile(path, prefix string, hashLen int, found func(packedRef) bool) error {
	file, err := regular.Open(path, maxPacked)
	if regular.Absent(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read packed refs: %w", err)
	}
	defer file.Close()
	if err := scanPacked(file, prefix, hashLen, found); err != nil {
		return fmt.Errorf("read packed refs %q: %w", path, err)
	}
	return nil
}

// maxLine is the maximum length of a line of packed-refs.
const maxLine = 64 << 10

// scanPacked calls found, without the prefix, for every ref with a valid name and the prefix, until
// found returns false.
func scanPacked(text io.Reader, prefix string, hashLen int, found func(packedRef) bool) error {
	lines := bufio.NewReaderSize(text, maxLine)
	for n := 1; ; n++ {
		line, err := lines.ReadSlice('\n')
		if err == io.EOF && len(line) == 0 {
			return nil
		}
		if err != nil && err != io.EOF && !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
		line, ended := bytes.CutSuffix(line, []byte("\n"))
		if len(line) > 0 && (line[0] == '^' || n == 1 && line[0] == '#') {
			continue // the header, or the target of the tag in the line before
		}
		if !ended || len(line) < hashLen+2 || line[hashLen] != ' ' || !isHash(line[:hashLen]) {
			return fmt.Errorf("line %d is not one that git writes", n)
		}
		name := line[hashLen+1:]
		if bytes.HasPrefix(name, []byte(prefix)) && ValidName(string(name)) {
			if !found(packedRef{name: string(name[len(prefix):]), hash: string(line[:hashLen])}) {
				return nil
			}
		}
	}
}

func isHash(digits []byte) bool {
	for _, c := range digits {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') && (c < 'A' || c > 'F') {
			return false
		}
	}
	return true
}
