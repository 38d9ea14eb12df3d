// Package gitspice reads the store of git-spice: the tree of refs/spice/data, which has a JSON file
// branches/NAME for each branch, and one named repo.
//
// It supports versions 1 and 2 of the store. The tool replaces the ref as a whole, so one commit is
// one state.
package gitspice

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/copse-dev/copse/internal/branch/source"
	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/git/objects"
	"github.com/copse-dev/copse/internal/git/reftable"
)

// Reader reads the store.
type Reader struct{}

// Name returns the tool's name.
func (Reader) Name() string { return "git-spice" }

const (
	ref = "refs/spice/data"
	// maxBlob is the maximum size of the file of a branch.
	maxBlob = 64 << 10
	// maxTree is the maximum size of the list of all files.
	maxTree = 8 << 20
)

// Files returns the ref, loose and packed.
func (Reader) Files(r source.Repo) []string {
	return []string{
		filepath.Join(r.CommonDir(), filepath.FromSlash(ref)), filepath.Join(r.CommonDir(), "packed-refs"), reftable.Dir(r.CommonDir()),
	}
}

// Read reads the store.
func (s Reader) Read(ctx context.Context, r source.Repo) (source.Record, error) {
	record := source.Record{Source: s.Name()}
	if r.NoRefs(ref) {
		return record, nil
	}
	commit, err := r.Program().Run(ctx, "for-each-ref", "--format=%(objecttype) %(objectname)", ref)
	if err != nil {
		return record, err
	}
	kind, hash, _ := strings.Cut(strings.TrimSpace(string(commit)), " ")
	if kind != "commit" || source.Hash(hash) == "" {
		// Git passes over a ref that it cannot read.
		if _, err := os.Lstat(filepath.Join(r.CommonDir(), filepath.FromSlash(ref))); kind != "" || err == nil {
			record.Notes = append(record.Notes, ref+" is not a commit")
		}
		return record, nil
	}
	// Trees that contain each other many times have an endless number of names.
	tree, err := r.Program().Within(maxTree).Run(ctx, "ls-tree", "-r", "-z", "--full-tree", hash)
	if err != nil {
		return record, err
	}
	var names, hashes []string
	for e := range objects.Entries(tree) {
		name := e.Path
		if branch, ok := strings.CutPrefix(name, "branches/"); name != "repo" && name != "version" && (!ok || !source.Valid(branch)) {
			continue
		}
		if len(names) > source.MaxEdges {
			break
		}
		names, hashes = append(names, name), append(hashes, e.Hash)
	}
	blobs, err := source.Blobs(ctx, r, hashes, maxBlob)
	if err != nil {
		return record, err
	}
	for i, name := range names {
		if err := add(&record, name, blobs[i]); err != nil {
			return source.Record{}, err
		}
	}
	return record, nil
}

// add adds the content of one file of the store.
func add(record *source.Record, name string, data []byte) error {
	switch name {
	case "version":
		if v, err := strconv.Atoi(strings.TrimSpace(string(data))); err != nil || v < 1 || v > 2 {
			return fmt.Errorf("the store has version %q, and copse knows 1 and 2", cleantext.Cut(string(data), 20))
		}
		return nil
	case "repo":
		var repo struct {
			Trunk string `json:"trunk"`
		}
		if json.Unmarshal(data, &repo) != nil || !source.Valid(repo.Trunk) {
			return errors.New("the store does not define a trunk")
		}
		record.Trunks = append(record.Trunks, repo.Trunk)
		return nil
	}
	child := strings.TrimPrefix(name, "branches/")
	edge, ok := Branch(child, data)
	if !ok {
		record.Notes = append(record.Notes, "the entry of "+child+" cannot be read")
		return nil
	}
	record.Edges = append(record.Edges, edge)
	return nil
}

// Branch reads the file of a branch.
func Branch(child string, data []byte) (source.Edge, bool) {
	var b struct {
		Base struct {
			Name string `json:"name"`
			Hash string `json:"hash"`
		} `json:"base"`
		Change struct {
			GitHub struct {
				PR struct {
					Number uint32 `json:"number"`
				} `json:"pr"`
			} `json:"github"`
		} `json:"change"`
	}
	if json.Unmarshal(data, &b) != nil || !source.Valid(b.Base.Name) {
		return source.Edge{}, false
	}
	return source.Edge{Child: child, Parent: b.Base.Name, BaseHash: source.Hash(b.Base.Hash), PR: b.Change.GitHub.PR.Number}, true
}
