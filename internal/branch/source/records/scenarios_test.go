package records_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/git/gittest"
)

// What each tool writes in each situation that its format can express, and what is read from
// it. A file of testdata/scenarios has
//
//	make        commands that make the branches: those of git, "commit TEXT", and
//	            "worktree DIR BRANCH"
//	git/PATH    a file in git's directory
//	root/PATH   a file in the worktree
//	config      additions to git's configuration
//	spice/PATH  a file of git-spice's store
//	meta/NAME   the blob of a branch in Graphite's older storage
//	graphite    rows of Graphite's database: branch, parent, commit of the parent, state,
//	            commit, result; "-" for null
//	after       commands that follow
//	ask         the worktree that the question is asked in
//	want        for each branch its parent and the source; "base" or "moved" if a base is
//	            recorded, and the parent's tip is that, or another; the recorded parent that
//	            is gone; and the pull request. Then the trunks, and the notes.
//
// {NAME} in a file is the commit of a branch.
func TestScenarios(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/scenarios/*/*.txtar")
	if err != nil || len(files) < 50 {
		t.Fatalf("%d scenarios, %v", len(files), err)
	}
	for _, file := range files {
		name := filepath.ToSlash(strings.TrimSuffix(strings.TrimPrefix(file, filepath.Join("testdata", "scenarios")+string(filepath.Separator)), ".txtar"))
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			s := scenario{world: newWorld(t), spice: map[string]string{}}
			for _, f := range archive.Files {
				s.step(t, f.Name, string(f.Data))
			}
			if s.want == nil {
				t.Fatal("nothing is asked")
			}
			if diff := cmp.Diff(s.want, s.got(t)); diff != "" {
				t.Errorf("%s-want +got:\n%s", archive.Comment, diff)
			}
		})
	}
}

// scenario is a repository while it is made.
type scenario struct {
	*world
	spice map[string]string // the blobs of git-spice's store, by path
	ask   string
	want  []string
}

var commitOf = regexp.MustCompile(`\{([A-Za-z][^{}"\s]*)\}`)

// step takes in one part of a scenario.
func (s *scenario) step(t *testing.T, name, text string) {
	t.Helper()
	text = commitOf.ReplaceAllStringFunc(text, func(ref string) string {
		return s.Run(s.dir, "rev-parse", "refs/heads/"+strings.Trim(ref, "{}"))
	})
	kind, at, _ := strings.Cut(name, "/")
	switch kind {
	case "make", "after":
		for line := range strings.Lines(text) {
			s.run(strings.Fields(line))
		}
	case "git":
		gittest.Write(t, filepath.Join(s.dir, ".git", filepath.FromSlash(at)), text)
	case "root":
		gittest.Write(t, filepath.Join(s.dir, filepath.FromSlash(at)), text)
	case "config":
		file := filepath.Join(s.dir, ".git", "config")
		old, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		gittest.Write(t, file, string(old)+text)
	case "spice":
		s.spice[at] = s.blob(t, text)
	case "meta":
		s.Run(s.dir, "update-ref", "refs/branch-metadata/"+at, s.blob(t, text))
	case "graphite":
		gittest.Write(t, filepath.Join(s.dir, ".git", ".graphite_metadata.db"), string(database(t, text)))
	case "ask":
		s.ask = strings.TrimSpace(text)
	case "want":
		s.want = strings.Split(strings.TrimSpace(text), "\n")
	default:
		t.Fatalf("unknown part %q", name)
	}
}

func (s *scenario) run(args []string) {
	switch args[0] {
	case "commit":
		s.Commit(s.dir, args[1])
	case "worktree":
		s.Run(s.dir, "worktree", "add", "-q", filepath.Join(s.Home, args[1]), args[2])
	default:
		s.Run(s.dir, args...)
	}
}

// blob returns the name of an object.
func (s *scenario) blob(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(s.Home, "blob")
	gittest.Write(t, file, text)
	return s.Run(s.dir, "hash-object", "-w", file)
}

// tree returns the tree of git-spice's store.
func (s *scenario) tree() string {
	index := filepath.Join(s.Home, "index")
	_ = os.Remove(index)
	was := s.Env
	defer func() { s.Env = was }()
	s.Env = s.Env.With("GIT_INDEX_FILE=" + index)
	for at, blob := range s.spice {
		s.Run(s.dir, "update-index", "--add", "--cacheinfo", "100644,"+blob+","+at)
	}
	return s.Run(s.dir, "write-tree")
}

// got returns what is read.
func (s *scenario) got(t *testing.T) []string {
	t.Helper()
	if len(s.spice) > 0 {
		s.Run(s.dir, "update-ref", "refs/spice/data", s.Run(s.dir, "commit-tree", "-m", "state", s.tree()))
	}
	at := s.dir
	if s.ask != "" {
		at = filepath.Join(s.Home, s.ask)
	}
	repo, err := git.Discover(t.Context(), at, git.Options{Env: s.Env})
	if err != nil {
		t.Fatal(err)
	}
	state, notes, err := s.Join(t.Context(), repo, nil, func() ([]string, error) { return repo.LocalBranches(context.Background()) }, false)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, d := range state.Dependencies {
		line := d.Child + " " + d.Parent + " " + d.Source
		switch d.BaseHash {
		case "":
		case s.Run(s.dir, "rev-parse", "refs/heads/"+d.Parent):
			line += " base"
		default:
			line += " moved"
		}
		if d.Stale != "" {
			line += " was=" + d.Stale
		}
		if pr := state.Metadata(d.Child).PRNumber; pr != 0 {
			line += fmt.Sprintf(" #%d", pr)
		}
		lines = append(lines, line)
	}
	slices.Sort(lines)
	for _, r := range state.Roots {
		lines = append(lines, "trunk "+r.Branch)
	}
	for _, n := range notes {
		lines = append(lines, "note "+n)
	}
	return lines
}

// database returns a SQLite file with Graphite's table of branches, as the rows say. All of
// it is in two pages, so it takes no more of the format than a header and two leaves.
func database(t *testing.T, rows string) []byte {
	t.Helper()
	const page = 4096
	const columns = "branch_name TEXT PRIMARY KEY, parent_branch_name TEXT, parent_branch_revision TEXT, last_submitted_version TEXT, " +
		"state TEXT, children TEXT, branch_revision TEXT, validation_result TEXT, parent_head_revision TEXT"
	table := [][]any{}
	for line := range strings.Lines(rows) {
		f := strings.Fields(line)
		if len(f) != 6 {
			t.Fatalf("a row has 6 fields, not %q", line)
		}
		cell := func(i int) any {
			if f[i] == "-" {
				return nil
			}
			return f[i]
		}
		table = append(table, []any{cell(0), cell(1), cell(2), nil, cell(3), "[]", cell(4), cell(5), cell(2)})
	}
	schema := [][]any{{"table", "branch_metadata", "branch_metadata", 2, "CREATE TABLE branch_metadata (" + columns + ")"}}
	header := make([]byte, 100)
	copy(header, "SQLite format 3\x00")
	binary.BigEndian.PutUint16(header[16:], page)
	copy(header[18:], []byte{1, 1, 0, 64, 32, 32})
	for at, n := range map[int]uint32{24: 1, 28: 2, 40: 1, 44: 4, 56: 1, 92: 1, 96: 3045001} {
		binary.BigEndian.PutUint32(header[at:], n)
	}
	return append(leaf(t, page, header, schema), leaf(t, page, nil, table)...)
}

// leaf returns a page with the rows of a table, after what else the page begins with.
func leaf(t *testing.T, size int, begin []byte, rows [][]any) []byte {
	t.Helper()
	out := make([]byte, size)
	copy(out, begin)
	end, pointers := size, len(begin)+8
	for i, row := range rows {
		var types, values bytes.Buffer
		for _, v := range row {
			switch v := v.(type) {
			case nil:
				types.WriteByte(0)
			case int:
				types.WriteByte(1)
				values.WriteByte(byte(v))
			case string:
				types.Write(varint(13 + 2*len(v)))
				values.WriteString(v)
			}
		}
		// The length of the types counts its own byte.
		record := slices.Concat(varint(types.Len()+1), types.Bytes(), values.Bytes())
		cell := slices.Concat(varint(len(record)), varint(i+1), record)
		end -= len(cell)
		if end < pointers+2*len(rows) {
			t.Fatal("the rows do not fit into a page")
		}
		copy(out[end:], cell)
		binary.BigEndian.PutUint16(out[pointers+2*i:], uint16(end))
	}
	out[len(begin)] = 13
	binary.BigEndian.PutUint16(out[len(begin)+3:], uint16(len(rows)))
	binary.BigEndian.PutUint16(out[len(begin)+5:], uint16(end))
	return out
}

// varint returns a number below 16,384 as SQLite writes it.
func varint(n int) []byte {
	if n < 128 {
		return []byte{byte(n)}
	}
	return []byte{byte(n>>7) | 128, byte(n & 127)}
}
