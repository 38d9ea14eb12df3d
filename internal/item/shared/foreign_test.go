package shared_test

import (
	"maps"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/copse-dev/copse/internal/git/sidebranch"
	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/ticfile"
)

// Whatever is on the branch, the store stays usable, and the sync after a correction succeeds.
func TestUnusableFiles(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	_, remote, machines := newMachines(t, 1)
	m := machines[0]
	m.sync(t)
	branch, to := m.syncer.Branch, sidebranch.Remote{Fetch: remote}
	large := strings.Repeat("x", 8<<20+1)
	for _, step := range []struct {
		name   string
		remove string // what begins with it
		write  sidebranch.Tree
		want   string // in the error; "" for success
	}{
		{"a file", "none", sidebranch.Tree{"notes": "x"}, ""},
		{"a directory in its place", "notes", sidebranch.Tree{"notes/a/b": "x"}, ""},
		{"a file in the place of that", "notes", sidebranch.Tree{"notes": "x"}, ""},
		{"a directory in the place of an item", "items/1.md", sidebranch.Tree{"items/1.md/x": "x"}, ""},
		{"a file in the place of the items", "items", sidebranch.Tree{"items": "x"}, ""},
		{"a large file", "items", sidebranch.Tree{"large": large}, `"large" has 8388609 bytes`},
		{"a long name", "large", sidebranch.Tree{strings.Repeat("a", 256): "x"}, ""},
		{"an unusable configuration", "none", sidebranch.Tree{"config.yml": "statuses: ["}, "of the branch is not usable YAML"},
	} {
		tip, err := branch.Fetch(ctx, to)
		if err != nil {
			t.Fatal(err)
		}
		tree, err := branch.Read(ctx, tip, func(string) bool { return true }, 2*ticfile.MaxSize)
		if err != nil {
			t.Fatal(err)
		}
		maps.DeleteFunc(tree, func(name, _ string) bool { return strings.HasPrefix(name, step.remove) })
		maps.Copy(tree, step.write)
		commit, err := branch.Commit(ctx, tree, step.name, tip)
		if err != nil {
			t.Fatal(err)
		}
		if err := branch.Push(ctx, to, commit, tip); err != nil {
			t.Fatal(err)
		}
		_, err = m.syncer.Sync(ctx)
		if step.want == "" && err != nil || step.want != "" && (err == nil || !strings.Contains(err.Error(), step.want)) {
			t.Fatalf("%s: got error %v", step.name, err)
		}
		if _, err := m.store.Create(ctx, item.Draft{Title: step.name}); err != nil {
			t.Fatalf("create after %s: %v", step.name, err)
		}
	}
}

// A remote that takes a connection and is silent holds up a sync for a limited time. The changes are
// committed here, and the reason is given.
func TestSilentRemote(t *testing.T) {
	t.Parallel()
	g, remote, machines := newMachines(t, 1)
	// A git for tests may be built without HTTP.
	m, err := open(t.Context(), machines[0].clone, remote, g.Env.With("PATH="+os.Getenv("PATH")))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.close)
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	m.syncer.Remote = &sidebranch.Remote{Fetch: "http://" + silent.Addr().String() + "/x"}
	m.syncer.RemoteTime = 300 * time.Millisecond
	if _, err := m.store.Create(t.Context(), item.Draft{Title: "x"}); err != nil {
		t.Fatal(err)
	}
	r := m.sync(t)
	if r.Offline == nil || !strings.Contains(r.Offline.Error(), "longer than the 300ms") || !r.Committed || r.Waiting == 0 {
		t.Errorf("got %+v", r)
	}
}
