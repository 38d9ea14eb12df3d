// Package graphite reads the stacks of Graphite's command line from both of its storages: the
// SQLite file .graphite_metadata.db of version 1.8 and later, and the blobs
// refs/branch-metadata/NAME of earlier versions. If both exist, the file takes precedence, and a
// ref is used only for a branch that the file does not have: Graphite copies refs once and leaves
// them behind.
package graphite

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/copse-dev/copse/internal/branch/source"
	"github.com/copse-dev/copse/internal/regular"
	"github.com/copse-dev/copse/internal/sqlitefile"
)

// Reader reads both storages.
type Reader struct{}

// Name returns the tool's name.
func (Reader) Name() string { return "graphite" }

const (
	database  = ".graphite_metadata.db"
	settings  = ".graphite_repo_config"
	pulls     = ".graphite_pr_info"
	refPrefix = "refs/branch-metadata/"
	// maxBlob is the maximum size of the record of a branch.
	maxBlob = 1 << 20
)

// Files returns the file with its journals, the settings, and the refs.
func (Reader) Files(r source.Repo) []string {
	dir := r.CommonDir()
	files := []string{filepath.Join(dir, settings), filepath.Join(dir, pulls), filepath.Join(dir, "packed-refs"), filepath.Join(dir, "reftable"), filepath.Join(dir, filepath.FromSlash(refPrefix))}
	for _, suffix := range []string{"", "-wal", "-journal"} {
		files = append(files, filepath.Join(dir, database+suffix))
	}
	return files
}

// Read reads the stacks.
func (g Reader) Read(ctx context.Context, r source.Repo) (source.Record, error) {
	record := source.Record{Source: g.Name()}
	known := map[string]bool{}
	rows, err := g.table(r)
	if err != nil {
		return record, err
	}
	for _, row := range rows {
		child, parent, revision, result := row[0], row[1], row[2], row[3]
		switch {
		case !source.Valid(child):
		case result == "TRUNK":
			known[child] = true
			record.Trunks = append(record.Trunks, child)
		default:
			known[child] = true
			if source.Valid(parent) {
				record.Edges = append(record.Edges, source.Edge{Child: child, Parent: parent, BaseHash: source.Hash(revision)})
			}
		}
	}
	old, damaged, err := g.refs(ctx, r)
	if err != nil {
		record.Notes = append(record.Notes, "its refs cannot be read")
	}
	record.Notes = append(record.Notes, damaged...)
	for _, e := range old {
		if !known[e.Child] {
			record.Edges = append(record.Edges, e)
		}
	}
	if len(record.Edges) == 0 {
		return record, nil
	}
	record.Trunks = append(trunks(r), record.Trunks...)
	numbers, err := pullRequests(r)
	if err != nil {
		record.Notes = append(record.Notes, "its pull requests cannot be read")
	}
	for i := range record.Edges {
		e := &record.Edges[i]
		e.PR = cmp.Or(numbers[e.Child], e.PR)
	}
	return record, nil
}

// pullRequests reads the numbers of the pull requests that Graphite submitted, by branch. One
// that is open counts before those that are merged or closed, and the newest of these before
// the others: the name of a branch can be used again.
func pullRequests(r source.Repo) (map[string]uint32, error) {
	data, err := regular.ReadInDir(r.CommonDir(), pulls, source.MaxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return PullRequests(data)
}

// PullRequests returns the content of the file of pull requests.
func PullRequests(data []byte) (map[string]uint32, error) {
	var file struct {
		Infos []struct {
			Number uint32 `json:"prNumber"`
			Head   string `json:"headRefName"`
			State  string `json:"state"`
		} `json:"prInfos"`
	}
	if err := source.JSON(data, &file); err != nil {
		return nil, err
	}
	numbers, open := make(map[string]uint32, len(file.Infos)), make(map[string]bool, len(file.Infos))
	for _, info := range file.Infos {
		is := info.State == "OPEN"
		if is && !open[info.Head] || is == open[info.Head] && info.Number > numbers[info.Head] {
			numbers[info.Head], open[info.Head] = info.Number, is
		}
	}
	return numbers, nil
}

// table reads the SQLite file: the name of each branch, its parent, the parent's commit, and
// Graphite's validation of it.
func (Reader) table(r source.Repo) ([][]string, error) {
	path := filepath.Join(r.CommonDir(), database)
	data, err := regular.ReadInDir(r.CommonDir(), database, source.MaxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	// A journal with content means that a change of the file is in progress, or that its latest
	// rows are elsewhere.
	for _, suffix := range []string{"-journal", "-wal"} {
		if info, err := os.Lstat(path + suffix); err == nil && info.Size() > 0 {
			return nil, errors.New("its database is being written; try again")
		}
	}
	return sqlitefile.Table(data, "branch_metadata", "branch_name", "parent_branch_name", "parent_branch_revision", "validation_result")
}

// refs reads the older storage.
func (Reader) refs(ctx context.Context, r source.Repo) (edges []source.Edge, notes []string, err error) {
	if r.NoRefs(refPrefix) {
		return nil, nil, nil
	}
	list, err := r.Program().Run(ctx, "for-each-ref", "--format=%(objectname) %(refname)", refPrefix)
	if err != nil {
		return nil, nil, err
	}
	var names, objects []string
	for line := range strings.Lines(string(list)) {
		object, name, _ := strings.Cut(strings.TrimSpace(line), " ")
		if name = strings.TrimPrefix(name, refPrefix); source.Valid(name) && source.Hash(object) != "" && len(names) < source.MaxEdges {
			names, objects = append(names, name), append(objects, object)
		}
	}
	blobs, err := source.Blobs(ctx, r, objects, maxBlob)
	if err != nil {
		return nil, nil, err
	}
	for i, data := range blobs {
		e, err := Branch(names[i], data)
		switch {
		case err != nil:
			notes = append(notes, "the entry of "+names[i]+" cannot be read")
		case e.Parent != "":
			edges = append(edges, e)
		}
	}
	return edges, notes, nil
}

// Branch reads the blob of a branch. An edge without a parent is that of a branch that Graphite
// knows and does not track.
func Branch(child string, data []byte) (source.Edge, error) {
	var b struct {
		Parent   string `json:"parentBranchName"`
		Revision string `json:"parentBranchRevision"`
		PR       struct {
			Number uint32 `json:"number"`
		} `json:"prInfo"`
	}
	if err := json.Unmarshal(data, &b); err != nil {
		return source.Edge{}, err
	}
	if b.Parent != "" && !source.Valid(b.Parent) {
		return source.Edge{}, errors.New("the parent is not a branch")
	}
	return source.Edge{Child: child, Parent: b.Parent, BaseHash: source.Hash(b.Revision), PR: b.PR.Number}, nil
}

// trunks returns the trunks of the settings, the main one first.
func trunks(r source.Repo) []string {
	data, err := regular.ReadInDir(r.CommonDir(), settings, source.MaxFile)
	if err != nil {
		return nil // the file names them, too
	}
	var s struct {
		Trunk  string `json:"trunk"`
		Trunks []struct {
			Name string `json:"name"`
		} `json:"trunks"`
	}
	if source.JSON(data, &s) != nil {
		return nil
	}
	names := []string{s.Trunk}
	for _, t := range s.Trunks {
		names = append(names, t.Name)
	}
	var found []string
	for _, name := range names {
		if source.Valid(name) {
			found = append(found, name)
		}
	}
	return found
}
