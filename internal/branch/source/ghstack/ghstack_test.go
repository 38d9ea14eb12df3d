package ghstack_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/copse-dev/copse/internal/branch/source"
	"github.com/copse-dev/copse/internal/branch/source/ghstack"
	"github.com/copse-dev/copse/internal/git/gittest"
)

// repo is a repository with only git's directory.
type repo struct {
	source.Repo
	dir string
}

func (r repo) CommonDir() string { return r.dir }

func (r repo) GitDir() string { return r.dir }

func content(branches int) string {
	entries := make([]string, branches)
	for i := range entries {
		entries[i] = fmt.Sprintf(`{"branch":"b%d"}`, i)
	}
	return `{"schemaVersion":1,"stacks":[{"trunk":{"branch":"main"},"branches":[` + strings.Join(entries, ",") + `]}]}`
}

// The files of all worktrees together have the limits of one record.
func TestFilesTogetherHaveALimit(t *testing.T) {
	t.Parallel()
	large := content(1) + strings.Repeat(" ", source.MaxFile/2)
	for name, tt := range map[string]struct {
		own, other string
		edges      int
		noted      bool
	}{
		"size":       {large, large, 2, true}, // a and c
		"branches":   {content(source.MaxEdges), content(1), source.MaxEdges, true},
		"small":      {content(1), content(1), 3, false},
		"one at max": {content(1) + strings.Repeat(" ", source.MaxFile), content(1), 2, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := repo{dir: t.TempDir()}
			gittest.Write(t, filepath.Join(r.dir, "gh-stack"), tt.own)
			gittest.Write(t, filepath.Join(r.dir, "worktrees", "b", "gh-stack"), tt.other)
			gittest.Write(t, filepath.Join(r.dir, "worktrees", "c", "gh-stack"), content(1))
			record, err := ghstack.Reader{}.Read(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			if len(record.Edges) != tt.edges || (len(record.Notes) == 1) != tt.noted {
				t.Errorf("got %d edges, want %d; notes: %q", len(record.Edges), tt.edges, record.Notes)
			}
		})
	}
}
