package local_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/itemtest"
	"github.com/copse-dev/copse/internal/item/local"
	"github.com/copse-dev/copse/internal/item/local/location"
	"github.com/copse-dev/copse/internal/item/storage"
)

// config is that of itemtest, with what people add.
const config = `# ours
backend: local
types: [epic, issue, task]
statuses:
  - backlog # new
  - todo
  - done
current_iteration: default
iterations:
  - default
next_id: 1 # counts
custom:
  kept: yes
`

// project makes a project and returns its directory.
func project(tb testing.TB) string {
	tb.Helper()
	dir := tb.TempDir()
	write(tb, dir, "config.yml", config)
	return dir
}

// path returns a file of the store of dir.
func path(dir, name string) string { return filepath.Join(dir, ".tic", filepath.FromSlash(name)) }

func write(tb testing.TB, dir, name, text string) {
	tb.Helper()
	if err := os.MkdirAll(filepath.Dir(path(dir, name)), 0o777); err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(path(dir, name), []byte(text), 0o666); err != nil {
		tb.Fatal(err)
	}
}

func read(tb testing.TB, dir, name string) string {
	tb.Helper()
	data, err := os.ReadFile(path(dir, name))
	if err != nil {
		tb.Fatal(err)
	}
	return string(data)
}

// itemText returns the file of an item with these lines in the front matter.
func itemText(id string, lines ...string) string {
	return "---\nid: \"" + id + "\"\ntitle: Item " + id + "\ntype: task\nstatus: todo\niteration: default\npriority: low\n" +
		strings.Join(append(lines, ""), "\n") + "---\nText of " + id + "\n"
}

// open returns the store of dir, in each of the ways that it can keep up.
func open(tb testing.TB, dir string, watching bool) *local.Store {
	tb.Helper()
	s := local.New(location.Search{Dir: dir}, time.Now)
	local.SetWatching(s, watching)
	tb.Cleanup(func() { _ = s.Close() })
	return s
}

// eachWay runs a test for each way to keep up with changes.
func eachWay(t *testing.T, test func(t *testing.T, watching bool)) {
	t.Helper()
	for name, watching := range map[string]bool{"watching": true, "looking": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, watching)
		})
	}
}

func diff(t *testing.T, what string, want, got any) {
	t.Helper()
	if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
		t.Errorf("%s (-want +got):\n%s", what, d)
	}
}

// titles lists what is in the store, and its warnings.
func titles(t *testing.T, s *local.Store) (string, []item.Warning) {
	t.Helper()
	snapshot, err := s.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, it := range snapshot.List(item.Config{}, item.Filter{All: true}) {
		all = append(all, it.ID.String()+" "+it.Title)
	}
	return strings.Join(all, ", "), snapshot.Warnings
}

func TestBackend(t *testing.T) {
	t.Parallel()
	eachWay(t, func(t *testing.T, watching bool) {
		itemtest.Run(t, func(t *testing.T) storage.Backend { return open(t, project(t), watching) })
	})
	itemtest.RunFleet(t, func(t *testing.T) itemtest.Project { return fleet(t, func() string { return project(t) }) })
}

// fleet returns a project for several agents, whose claims live by a clock of its own.
func fleet(t *testing.T, make func() string) itemtest.Project {
	t.Helper()
	dir := make()
	var passed atomic.Int64
	return itemtest.Project{
		Open: func(t *testing.T) storage.Backend {
			s := local.New(location.Search{Dir: dir}, func() time.Time { return time.Now().Add(time.Duration(passed.Load())) })
			t.Cleanup(func() { _ = s.Close() })
			return s
		},
		Pass: func(_ *testing.T, d time.Duration) { passed.Add(int64(d)) },
	}
}
