package bombs_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/copse-dev/copse/internal/git/gittest"
	"github.com/copse-dev/copse/internal/test/bombs"
	"github.com/copse-dev/copse/internal/test/built"
	"github.com/copse-dev/copse/internal/test/need"
)

const (
	// patience is how long a busy machine may take for an answer that takes milliseconds.
	patience = 10 * time.Second
	// memory is what a process may take, in MiB.
	memory = 128
)

// No file makes copse wait, end, or take much memory: the server and each command answer
// under each bomb at each place.
func TestBombs(t *testing.T) {
	t.Parallel()
	w := world(t)
	nothing := bombs.Bomb{Name: "nothing", Plant: func(string) error { return nil }}
	if o, err := w.Try(t.Context(), bombs.Place{Name: "none", Path: "none"}, nothing, patience); err != nil || o.Asked-o.Refused < 20 {
		t.Fatalf("without a bomb: %d of %d tools refuse: %v", o.Refused, o.Asked, err)
	}
	all := bombs.All()
	for i, p := range bombs.Places() {
		for j, b := range all {
			// Each place has two bombs, in turns. Where nothing may be skipped, as in CI, it has all.
			turn := p.Lists() || j == i%len(all) || j == (i+len(all)/2)%len(all)
			if !p.Fits(b) || !turn && !need.All() {
				continue
			}
			o, err := w.Try(t.Context(), p, b, patience)
			if err != nil {
				t.Errorf("%s as %s: %v", b.Name, p.Name, err)
			}
			if o.Peak > memory {
				t.Errorf("%s as %s: %.0f MiB", b.Name, p.Name, o.Peak)
			}
		}
	}
}

// Git itself reads the files behind a .git in the worktree before copse finds them, but not for long.
func TestBehindNestedGitFile(t *testing.T) {
	t.Parallel()
	const memory = 512
	w := world(t)
	for name, text := range map[string]string{"nested/.git": "gitdir: ../stuff\n", "nested/a": "", "stuff/HEAD": "ref: refs/heads/main\n", "stuff/objects/a": "", "stuff/refs/a": ""} {
		gittest.Write(t, filepath.Join(w.Root(), filepath.FromSlash(name)), text)
	}
	for _, b := range bombs.All() {
		if b.Name != "link to /dev/zero" { // git waits for some of the others, and reads less of the rest
			continue
		}
		o, err := w.Try(t.Context(), bombs.Place{Path: "root/stuff/commondir"}, b, patience)
		if err != nil || o.Peak > memory {
			t.Errorf("git took %.0f MiB: %v", o.Peak, err)
		}
	}
}

// world returns a world with the programs of this source.
func world(t *testing.T) *bombs.World {
	t.Helper()
	bin := t.TempDir()
	if err := built.Build(t.Context(), bin+string(filepath.Separator), "github.com/copse-dev/copse/cmd/..."); err != nil {
		t.Fatal(err)
	}
	w, err := bombs.New(t.Context(), t.TempDir(), bin)
	if err != nil {
		t.Fatal(err)
	}
	return w
}
