package refstore_test

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/copse-dev/copse/internal/git/gittest"
	"github.com/copse-dev/copse/internal/git/refstore"
)

// repository is a repository and a store that lives as long as it does.
type repository struct {
	git   *gittest.Git
	dir   string // of git: .git
	hash  string // of a commit
	store *refstore.Store
}

func newRepository(t *testing.T, initArgs ...string) *repository {
	git := gittest.New(t)
	root := git.Init(initArgs...)
	hash := git.Commit(root, "first")
	dir := filepath.Join(root, ".git")
	return &repository{git: git, dir: dir, hash: hash, store: refstore.New(dir, dir, len(hash))}
}

func (r *repository) write(t testing.TB, name, text string) {
	t.Helper()
	gittest.Write(t, filepath.Join(r.dir, filepath.FromSlash(name)), text)
}

// age makes all directories of branches, and packed-refs, look as if they had been modified some
// time ago: at another time for every step.
func (r *repository) age(t testing.TB, step int) {
	t.Helper()
	past := time.Now().Add(-time.Hour)
	set := func(path string) {
		fi, err := os.Stat(path)
		if err == nil && fi.ModTime().After(past) {
			err = os.Chtimes(path, time.Time{}, past.Add(time.Duration(step)*time.Second-24*time.Hour))
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
	}
	set(filepath.Join(r.dir, "packed-refs"))
	err := filepath.WalkDir(filepath.Join(r.dir, "refs", "heads"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			set(path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// check compares the store, and a new one, with git.
func (r *repository) check(t testing.TB) {
	t.Helper()
	out := r.git.Run(r.dir, "for-each-ref", "--format=%(refname)", "refs/heads")
	want := []string{}
	for name := range strings.Lines(out + "\n") {
		if name = strings.TrimSpace(name); name != "" {
			want = append(want, strings.TrimPrefix(name, refstore.BranchPrefix))
		}
	}
	slices.Sort(want)
	for name, store := range map[string]*refstore.Store{"kept": r.store, "new": refstore.New(r.dir, r.dir, len(r.hash))} {
		got, err := store.Branches(t.Context())
		if err != nil {
			t.Fatalf("%s store: %v", name, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("branches of the %s store (-git +got):\n%s", name, diff)
		}
		for _, branch := range want {
			if has, err := store.HasBranch(branch); !has || err != nil {
				t.Fatalf("%s store: HasBranch(%q) = %v, %v", name, branch, has, err)
			}
		}
	}
}

func TestBranches(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"sha1", "sha256"} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			r := newRepository(t, "--object-format="+format)
			for _, name := range []string{"Zed", "develop", "feature/x", "feature/x.y/z", "feature-login", "ünï/cödé", "a@b", "-x"} {
				r.write(t, "refs/heads/"+name, r.hash+"\n")
			}
			r.check(t)
			r.git.Run(r.dir, "pack-refs", "--all")
			r.check(t)
			// Packed and then changed, deleted, replaced by a directory.
			second := r.git.Commit(filepath.Dir(r.dir), "second")
			r.git.Run(r.dir, "update-ref", "refs/heads/develop", second)
			r.git.Run(r.dir, "update-ref", "-d", "refs/heads/feature/x")
			r.write(t, "refs/heads/feature/x/deep", r.hash+"\n")
			r.check(t)
			ref, err := r.store.Resolve("refs/heads/develop")
			if want := (refstore.Ref{Name: "refs/heads/develop", Hash: second}); ref != want || err != nil {
				t.Errorf("Resolve = %+v, %v; want %+v", ref, err, want)
			}
			// Symbolic refs, sound and dangling, loose and over packed ones.
			r.git.Run(r.dir, "symbolic-ref", "refs/heads/alias", "refs/heads/feature-login")
			r.git.Run(r.dir, "symbolic-ref", "refs/heads/alias2", "refs/heads/alias")
			r.git.Run(r.dir, "symbolic-ref", "refs/heads/dangling", "refs/heads/nowhere")
			r.git.Run(r.dir, "symbolic-ref", "refs/heads/Zed", "refs/heads/nowhere")
			r.git.Run(r.dir, "update-ref", "refs/remotes/origin/main", r.hash)
			r.git.Run(r.dir, "symbolic-ref", "refs/heads/tracking", "refs/remotes/origin/main")
			r.write(t, "refs/heads/cycle1", "ref: refs/heads/cycle2\n")
			r.write(t, "refs/heads/cycle2", "ref: refs/heads/cycle1\n")
			r.check(t)
			// Symbolic refs five and six deep.
			r.write(t, "refs/heads/d1", "ref: refs/heads/main\n")
			for i := 2; i <= 6; i++ {
				r.write(t, fmt.Sprintf("refs/heads/d%d", i), fmt.Sprintf("ref: refs/heads/d%d\n", i-1))
			}
			r.check(t)
			// Names and files that are not refs.
			r.write(t, "refs/heads/empty", "")
			r.write(t, "refs/heads/zeros", strings.Repeat("0", len(r.hash))+"\n")
			r.write(t, "refs/heads/nul", strings.Repeat("\x00", len(r.hash)+1))
			r.write(t, "refs/heads/garbage", "garbage of some length that is as long as a hash or longer, whichever it may be\n")
			r.write(t, "refs/heads/main.lock", r.hash+"\n")
			r.write(t, "refs/heads/.hidden", r.hash+"\n")
			r.write(t, "refs/heads/.dir/x", r.hash+"\n")
			r.write(t, "refs/heads/dir.lock/x", r.hash+"\n")
			r.write(t, "refs/heads/in valid", r.hash+"\n")
			r.write(t, "refs/heads/in~valid/x", r.hash+"\n")
			r.write(t, "refs/heads/a..b", r.hash+"\n")
			r.write(t, "refs/heads/trailing", r.hash+" and more\n")
			r.write(t, "refs/heads/a@b", "hides the packed one")
			r.check(t)
			for _, name := range []string{"empty", "a@b", "dangling", "cycle1", "nowhere", "d6", "", "../heads/main", "in valid", "main.lock"} {
				if has, err := r.store.HasBranch(name); has || err != nil {
					t.Errorf("HasBranch(%q) = %v, %v; want false", name, has, err)
				}
			}
			// A symbolic ref whose target in another directory comes and goes.
			r.age(t, 0)
			r.check(t)
			r.git.Run(r.dir, "update-ref", "-d", "refs/remotes/origin/main")
			r.check(t)
		})
	}
}

func TestResolve(t *testing.T) {
	t.Parallel()
	r := newRepository(t)
	r.write(t, "refs/heads/empty", "")
	r.write(t, "refs/remotes/origin/HEAD", "ref: refs/remotes/origin/main\n")
	r.write(t, "refs/heads/loop", "ref: refs/heads/loop\n")
	r.git.Run(r.dir, "update-ref", "refs/tags/packed", r.hash)
	r.git.Run(r.dir, "update-ref", "refs/remotes/origin/x", r.hash)
	r.git.Run(r.dir, "pack-refs", "--all")
	for _, tt := range []struct {
		name   string
		want   refstore.Ref
		broken bool
	}{
		{name: "HEAD", want: refstore.Ref{Name: "refs/heads/main", Hash: r.hash}},
		{name: "refs/heads/main", want: refstore.Ref{Name: "refs/heads/main", Hash: r.hash}},
		{name: "refs/heads/none", want: refstore.Ref{Name: "refs/heads/none"}},
		{name: "refs/heads/empty", want: refstore.Ref{Name: "refs/heads/empty"}, broken: true},
		{name: "refs/heads/loop", want: refstore.Ref{Name: "refs/heads/loop"}, broken: true},
		{name: "refs/remotes/origin/HEAD", want: refstore.Ref{Name: "refs/remotes/origin/main"}},
		{name: "refs/remotes/origin/x", want: refstore.Ref{Name: "refs/remotes/origin/x", Hash: r.hash}},
		{name: "refs/remotes/origin", want: refstore.Ref{Name: "refs/remotes/origin"}},
		{name: "refs/tags/packed", want: refstore.Ref{Name: "refs/tags/packed", Hash: r.hash}},
		{name: "refs/heads/../../config", want: refstore.Ref{Name: "refs/heads/../../config"}, broken: true},
	} {
		got, err := r.store.Resolve(tt.name)
		if got != tt.want || errors.Is(err, refstore.ErrBroken) != tt.broken || (err != nil) != tt.broken {
			t.Errorf("Resolve(%q) = %+v, %v; want %+v, broken %v", tt.name, got, err, tt.want, tt.broken)
		}
	}
	for name, want := range map[string]string{
		"refs/remotes/origin/HEAD": "refs/remotes/origin/main", "HEAD": "refs/heads/main",
		"refs/heads/main": "", "refs/heads/none": "", "refs/heads/empty": "",
	} {
		if got, err := r.store.Target(name); got != want || err != nil {
			t.Errorf("Target(%q) = %q, %v; want %q", name, got, err, want)
		}
	}
	r.write(t, "packed-refs", "<<<<<<< ours\n")
	if _, err := r.store.Resolve("refs/heads/none"); err == nil || !strings.Contains(err.Error(), "packed-refs") {
		t.Errorf("error is %v, want one that names packed-refs", err)
	}
	if _, err := r.store.Branches(t.Context()); err == nil || !strings.Contains(err.Error(), "line 1") {
		t.Errorf("error is %v, want one that names the line", err)
	}
}

// A linked worktree has a HEAD and a few refs of its own.
func TestResolveInWorktree(t *testing.T) {
	t.Parallel()
	r := newRepository(t)
	own := filepath.Join(r.dir, "worktrees", "x")
	r.write(t, "worktrees/x/HEAD", "ref: refs/heads/main\n")
	r.write(t, "worktrees/x/refs/bisect/bad", r.hash+"\n")
	r.write(t, "worktrees/x/refs/worktree/y", "ref: refs/bisect/bad\n")
	r.write(t, "worktrees/x/refs/heads/z", r.hash+"\n") // of no meaning
	linked := refstore.New(own, r.dir, len(r.hash))
	for name, want := range map[string]refstore.Ref{
		"HEAD":            {Name: "refs/heads/main", Hash: r.hash},
		"refs/bisect/bad": {Name: "refs/bisect/bad", Hash: r.hash},
		"refs/worktree/y": {Name: "refs/bisect/bad", Hash: r.hash},
		"refs/heads/z":    {Name: "refs/heads/z"},
	} {
		if got, err := linked.Resolve(name); got != want || err != nil {
			t.Errorf("Resolve(%q) = %+v, %v; want %+v", name, got, err, want)
		}
	}
	if got, err := r.store.Resolve("refs/bisect/bad"); got.Hash != "" || err != nil {
		t.Errorf("the main worktree sees %+v, %v", got, err)
	}
}

// A directory that was read long after it was modified is not read again; one that was modified
// just before is.
func TestBranchesTrustsOldDirsOnly(t *testing.T) {
	t.Parallel()
	r := newRepository(t)
	r.write(t, "refs/heads/old/x", r.hash+"\n")
	r.age(t, 0)
	r.check(t)
	branches := func() string {
		t.Helper()
		names, err := r.store.Branches(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(names, " ")
	}
	// Damaged in place, which git never does and which does not show in the directory: proof that
	// the file is not opened again.
	r.write(t, "refs/heads/old/x", "")
	if got := branches(); got != "main old/x" {
		t.Errorf("branches are %q: an unchanged folder was read again", got)
	}
	r.write(t, "refs/heads/old/y", r.hash+"\n")
	if got := branches(); got != "main old/y" {
		t.Errorf("branches are %q: a changed folder was not read again", got)
	}
	// As recent as can be, however slow the test is.
	old := filepath.Join(r.dir, "refs", "heads", "old")
	if err := os.Chtimes(old, time.Time{}, time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	branches()
	r.write(t, "refs/heads/old/y", "")
	if got := branches(); got != "main" {
		t.Errorf("branches are %q: a folder modified just now was trusted", got)
	}
}

// A store that is kept while branches come and go says what git says.
func TestBranchesOverTime(t *testing.T) {
	t.Parallel()
	runs := 4
	if testing.Short() {
		runs = 1
	}
	for run := range runs {
		t.Run(fmt.Sprint(run), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(uint64(run), 0))
			names := []string{"a", "b", "c/d", "c/e", "c/f/g", "h"}
			name := func() string { return names[random.IntN(len(names))] }
			r := newRepository(t)
			for step := range 40 {
				switch n := name(); random.IntN(8) {
				case 0, 1, 2:
					t.Log("create", n)
					_, _ = r.git.Try(r.dir, "branch", "--no-track", n, r.hash)
				case 3, 4:
					t.Log("delete", n)
					_, _ = r.git.Try(r.dir, "update-ref", "-d", "--no-deref", "refs/heads/"+n)
				case 5:
					t.Log("pack")
					r.git.Run(r.dir, "pack-refs", "--all")
				case 6:
					target := name()
					t.Log("symbolic", n, target)
					_, _ = r.git.Try(r.dir, "symbolic-ref", "refs/heads/"+n, "refs/heads/"+target)
				case 7:
					path := filepath.Join(r.dir, "refs", "heads", filepath.FromSlash(n))
					if fi, err := os.Stat(path); err == nil && fi.Mode().IsRegular() {
						t.Log("damage", n)
						if err := os.Remove(path); err != nil {
							t.Fatal(err)
						}
						r.write(t, "refs/heads/"+n, "")
					}
				}
				if random.IntN(3) > 0 {
					r.age(t, step)
				}
				r.check(t)
			}
		})
	}
}

func TestBranchesWithoutDir(t *testing.T) {
	t.Parallel()
	dir := gittest.Dir(t)
	names, err := refstore.New(dir, dir, 40).Branches(t.Context())
	if len(names) != 0 || err != nil {
		t.Errorf("Branches = %q, %v; want none", names, err)
	}
}

func TestBranchesConcurrently(t *testing.T) {
	t.Parallel()
	r := newRepository(t)
	for i := range 500 {
		r.write(t, fmt.Sprintf("refs/heads/b%03d", i), r.hash+"\n")
	}
	errs := make(chan error)
	const callers = 8
	for range callers {
		go func() {
			var err error
			for i := 0; i < 10 && err == nil; i++ {
				var names []string
				if names, err = r.store.Branches(t.Context()); err == nil && len(names) != 501 {
					err = fmt.Errorf("%d branches", len(names))
				}
				clear(names) // the slice is the caller's
				if _, e := r.store.HasBranch("b007"); e != nil {
					err = e
				}
			}
			errs <- err
		}()
	}
	for range callers {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
}
