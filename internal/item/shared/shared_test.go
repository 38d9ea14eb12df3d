package shared_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/git/gittest"
	"github.com/copse-dev/copse/internal/git/sidebranch"
	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/claim"
	"github.com/copse-dev/copse/internal/item/local"
	"github.com/copse-dev/copse/internal/item/local/location"
	"github.com/copse-dev/copse/internal/item/merge"
	"github.com/copse-dev/copse/internal/item/shared"
	"github.com/copse-dev/copse/internal/item/storage"
	"github.com/copse-dev/copse/internal/xec"
)

// itemsBranch is the branch of the store.
const itemsBranch = "copse-items"

func TestMain(m *testing.M) {
	if os.Getenv(agentVar) != "" {
		if err := runAgent(context.Background()); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if os.Getenv(writerVar) != "" {
		if err := runWriter(context.Background()); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	os.Exit(m.Run())
}

// The agent's orders.
const (
	agentVar  = "COPSE_TEST_AGENT" // its name
	cloneVar  = "COPSE_TEST_CLONE"
	remoteVar = "COPSE_TEST_REMOTE"
)

const rounds = 3

// machine is a clone with a shared store.
type machine struct {
	clone  string
	store  *local.Store
	syncer *shared.Syncer
}

func open(ctx context.Context, clone, remote string, env xec.Env) (*machine, error) {
	common := filepath.Join(clone, ".git")
	store := local.New(location.Search{Dir: clone, Root: clone, Shared: filepath.Join(common, "copse", "tic")}, time.Now)
	repo, err := git.Discover(ctx, clone, git.Options{Env: env})
	if err != nil {
		return nil, err
	}
	branch, err := sidebranch.Open(ctx, sidebranch.Repository{Repo: repo, Env: env}, itemsBranch)
	if err != nil {
		return nil, err
	}
	return &machine{clone, store, &shared.Syncer{
		Store: store, Branch: branch, Remote: &sidebranch.Remote{Fetch: remote}, Now: time.Now,
	}}, nil
}

func (m *machine) close() { _, _ = m.store.Close(), m.syncer.Branch.Close() }

// find returns the number that an item has now.
func (m *machine) find(ctx context.Context, title string) (item.ID, error) {
	snapshot, err := m.store.Snapshot(ctx)
	if err != nil {
		return 0, err
	}
	for _, s := range snapshot.List(item.Config{}, item.Filter{All: true}) {
		if s.Title == title {
			return s.ID, nil
		}
	}
	return 0, fmt.Errorf("no item %q", title)
}

// runAgent makes an item, and in each round a child of it, with a comment; it syncs in
// between.
func runAgent(ctx context.Context) error {
	name := os.Getenv(agentVar)
	m, err := open(ctx, os.Getenv(cloneVar), os.Getenv(remoteVar), os.Environ())
	if err != nil {
		return err
	}
	defer m.close()
	if _, err := m.store.Create(ctx, item.Draft{Title: name, Description: "of " + name}); err != nil {
		return err
	}
	for round := range rounds {
		r, err := m.syncer.Sync(ctx)
		if err == nil {
			err = r.Offline
		}
		if err != nil {
			return fmt.Errorf("%s: sync: %w", name, err)
		}
		// What was published keeps its number.
		parent, err := m.find(ctx, name)
		if err != nil {
			return err
		}
		child := fmt.Sprintf("%s child %d", name, round)
		if _, err := m.store.Create(ctx, item.Draft{Title: child, Parent: parent, Labels: []string{name}}); err != nil {
			return err
		}
		if _, err := m.store.AddComment(ctx, parent, name, "in round "+child); err != nil {
			return err
		}
		if _, err := m.store.Update(ctx, parent, item.Patch{Assignee: &child}); err != nil {
			return err
		}
	}
	return nil
}

// newMachines clones an empty remote.
func newMachines(t *testing.T, n int) (g *gittest.Git, remote string, machines []*machine) {
	t.Helper()
	g = gittest.New(t)
	dir := gittest.Dir(t)
	remote = filepath.Join(dir, "remote.git")
	g.Run(dir, "init", "-q", "--bare", remote)
	for i := range n {
		clone := filepath.Join(dir, fmt.Sprintf("machine%d", i))
		g.Run(dir, "init", "-q", "--initial-branch=main", clone)
		g.Commit(clone, "begin")
		g.Run(clone, "remote", "add", "origin", remote)
		m, err := open(t.Context(), clone, remote, g.Env)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(m.close)
		if _, _, err := m.store.InitShared(t.Context()); err != nil {
			t.Fatal(err)
		}
		machines = append(machines, m)
	}
	return g, remote, machines
}

func (m *machine) sync(t *testing.T) shared.Result {
	t.Helper()
	r, err := m.syncer.Sync(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// files returns all files of the store.
func (m *machine) files(t *testing.T) map[string]string {
	t.Helper()
	files := map[string]string{}
	root := filepath.Join(m.clone, ".git", "copse", "tic")
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		name, _ := filepath.Rel(root, path)
		if err != nil || d.IsDir() || strings.HasPrefix(name, ".copse") {
			return err
		}
		text, err := os.ReadFile(path)
		files[filepath.ToSlash(name)] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// Two machines with eight agents each write and sync at the same time. Nothing is lost
// or doubled, relations hold, and the stores are the same at the end.
func TestAgentsOnTwoMachines(t *testing.T) {
	t.Parallel()
	const agents = 8
	g, remote, machines := newMachines(t, 2)
	type running struct {
		cmd    *exec.Cmd
		output *strings.Builder
	}
	var all []running
	var names []string
	for i, m := range machines {
		for a := range agents {
			name := fmt.Sprintf("machine %d agent %d", i, a)
			names = append(names, name)
			cmd := exec.CommandContext(t.Context(), os.Args[0])
			cmd.Env = append(slices.Clone([]string(g.Env)), agentVar+"="+name, cloneVar+"="+m.clone, remoteVar+"="+remote, "TMPDIR="+os.TempDir())
			output := new(strings.Builder)
			cmd.Stdout, cmd.Stderr = output, output
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			all = append(all, running{cmd, output})
		}
	}
	for _, r := range all {
		if err := r.cmd.Wait(); err != nil {
			t.Errorf("%v: %s", err, r.output)
		}
	}
	for range 2 {
		for _, m := range machines {
			m.sync(t)
		}
	}
	first, second := machines[0].files(t), machines[1].files(t)
	if diff := cmp.Diff(first, second); diff != "" {
		t.Fatalf("the stores differ:\n%s", diff)
	}
	checkWork(t, machines[0], names)
	for _, m := range machines {
		if status := g.Run(m.clone, "status", "--porcelain"); status != "" {
			t.Errorf("the working tree changed: %s", status)
		}
		refs := g.Run(m.clone, "for-each-ref", "--format=%(refname)")
		if refs != "refs/heads/copse-items\nrefs/heads/main" {
			t.Errorf("there are other refs: %s", refs)
		}
		if _, err := os.Stat(filepath.Join(m.clone, ".git", "FETCH_HEAD")); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("FETCH_HEAD was written: %v", err)
		}
		g.Run(m.clone, "fsck", "--strict")
	}
}

// checkWork finds each item once, with all its comments and the right parent.
func checkWork(t *testing.T, m *machine, names []string) {
	t.Helper()
	ctx := t.Context()
	snapshot, err := m.store.Snapshot(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if len(snapshot.Warnings) > 0 {
		t.Errorf("warnings: %v", snapshot.Warnings)
	}
	byTitle := map[string][]*item.Summary{}
	for _, s := range snapshot.List(item.Config{}, item.Filter{All: true}) {
		byTitle[s.Title] = append(byTitle[s.Title], s)
	}
	if got, want := len(byTitle), len(names)*(1+rounds); got != want {
		t.Errorf("%d items, want %d: %v", got, want, slices.Sorted(maps.Keys(byTitle)))
	}
	for title, list := range byTitle {
		if len(list) != 1 {
			t.Errorf("%q is there %d times", title, len(list))
		}
	}
	for _, name := range names {
		if len(byTitle[name]) == 0 {
			t.Errorf("%q is lost", name)
			continue
		}
		it, err := m.store.Item(ctx, byTitle[name][0].ID)
		if err != nil {
			t.Fatal(err)
		}
		var said []string
		for _, c := range it.Comments {
			said = append(said, c.Body)
		}
		var want []string
		for round := range rounds {
			child := fmt.Sprintf("%s child %d", name, round)
			want = append(want, "in round "+child)
			if len(byTitle[child]) == 0 {
				t.Errorf("%q is lost", child)
			} else if got := byTitle[child][0].Parent; got != it.ID {
				t.Errorf("%q has parent #%d, want #%d", child, got, it.ID)
			}
		}
		slices.Sort(said)
		if diff := cmp.Diff(want, said); diff != "" {
			t.Errorf("comments of %q:\n%s", name, diff)
		}
		if want := fmt.Sprintf("%s child %d", name, rounds-1); it.Assignee != want {
			t.Errorf("%q has assignee %q, want %q", name, it.Assignee, want)
		}
	}
}

// Without the remote, changes are committed and counted; with it again, they go there.
func TestOffline(t *testing.T) {
	t.Parallel()
	_, remote, machines := newMachines(t, 2)
	m, ctx := machines[0], t.Context()
	create := func(title string) {
		t.Helper()
		if _, err := m.store.Create(ctx, item.Draft{Title: title}); err != nil {
			t.Fatal(err)
		}
	}
	create("Before")
	if r := m.sync(t); r.Offline != nil || r.Sent != 2 || r.Waiting != 0 {
		t.Errorf("got %+v", r)
	}
	away := remote + ".away"
	if err := os.Rename(remote, away); err != nil {
		t.Fatal(err)
	}
	create("Offline")
	for range 2 {
		if r := m.sync(t); r.Offline == nil || r.Waiting != 2 {
			t.Errorf("got %+v", r)
		}
	}
	if err := os.Rename(away, remote); err != nil {
		t.Fatal(err)
	}
	if r := m.sync(t); r.Offline != nil || r.Sent != 2 || r.Waiting != 0 {
		t.Errorf("got %+v", r)
	}
	if r := m.sync(t); r.Committed || r.Sent+r.Received != 0 {
		t.Errorf("a second sync did something: %+v", r)
	}
	machines[1].sync(t)
	if diff := cmp.Diff(m.files(t), machines[1].files(t)); diff != "" {
		t.Error(diff)
	}
}

// A machine that loses power, or a `git gc --prune=now` beside a sync, leaves a branch whose last commit
// is empty, or gone, or without its files. The next sync continues with what the store and the remote have.
func TestDamagedBranch(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, object string
		remote, gone bool
	}{
		{"empty commit", "HEAD", true, false}, {"no commit", "HEAD", true, true}, {"empty directory", "HEAD^{tree}", true, false},
		{"no directory", "HEAD^{tree}", true, true}, {"empty, unpublished", "HEAD", false, false},
		{"no directory, unpublished", "HEAD^{tree}", false, true}, {"empty directory, unpublished", "HEAD^{tree}", false, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			g, remote, machines := newMachines(t, 1)
			m, ctx := machines[0], t.Context()
			create(ctx, t, m, "One")
			create(ctx, t, m, "Two")
			m.sync(t)
			away := remote + ".away"
			if err := m.store.Delete(ctx, 1, "", false); err != nil {
				t.Fatal(err)
			}
			if !test.remote {
				if err := os.Rename(remote, away); err != nil {
					t.Fatal(err)
				}
			}
			m.sync(t)
			if !test.remote {
				if err := os.Rename(away, remote); err != nil {
					t.Fatal(err)
				}
			}
			want := m.files(t)
			name := strings.TrimSpace(g.Run(m.clone, "rev-parse", strings.Replace(test.object, "HEAD", "copse-items", 1)))
			file := filepath.Join(m.clone, ".git", "objects", name[:2], name[2:])
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
			if !test.gone {
				gittest.Write(t, file, "")
			}
			for range 2 {
				if r := m.sync(t); r.Offline != nil || r.Waiting > 0 {
					t.Errorf("got %+v", r)
				}
			}
			if diff := cmp.Diff(want, m.files(t)); diff != "" {
				t.Error(diff)
			}
			g.Run(m.clone, "rev-list", "--objects", "copse-items")
			if here, there := g.Run(m.clone, "rev-parse", "copse-items"), g.Run(remote, "rev-parse", "copse-items"); here != there {
				t.Errorf("the branch is at %s, and that of the remote at %s", here, there)
			}
		})
	}
}

// The one that was published first keeps its number, and the other one's references
// follow it.
func TestPublishedKeepsItsNumber(t *testing.T) {
	t.Parallel()
	_, _, machines := newMachines(t, 2)
	ctx := t.Context()
	for i, m := range machines {
		for _, d := range []item.Draft{{Title: fmt.Sprintf("Epic %d", i)}, {Title: fmt.Sprintf("Child %d", i), Parent: 1, Description: "see #1"}} {
			if _, err := m.store.Create(ctx, d); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(2 * time.Millisecond) // items of the same millisecond and number are one
	}
	machines[1].sync(t) // the younger items, but first
	if r := machines[0].sync(t); len(r.Renumbered) != 2 {
		t.Errorf("renumbered %+v", r.Renumbered)
	}
	machines[1].sync(t)
	if diff := cmp.Diff(machines[0].files(t), machines[1].files(t)); diff != "" {
		t.Error(diff)
	}
	it, err := machines[1].store.Item(ctx, 4)
	if err != nil {
		t.Fatal(err)
	}
	if it.Title != "Child 0" || it.Parent != 3 || it.Description != "see #3" {
		t.Errorf("got %+v", it)
	}
}

// A change of another machine brings a deleted item back. Both machines report it.
func TestDeletedAndChanged(t *testing.T) {
	t.Parallel()
	_, _, machines := newMachines(t, 2)
	ctx := t.Context()
	it, err := machines[0].store.Create(ctx, item.Draft{Title: "Contested"})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range machines {
		m.sync(t)
	}
	if _, err := machines[1].store.Update(ctx, it.ID, item.Patch{Priority: new("high")}); err != nil {
		t.Fatal(err)
	}
	if err := machines[0].store.Delete(ctx, it.ID, "", false); err != nil {
		t.Fatal(err)
	}
	if r := machines[0].sync(t); len(r.Reports) > 0 {
		t.Errorf("the deletion reports %+v", r.Reports)
	}
	for i, n := range []int{1, 0} {
		r := machines[n].sync(t)
		if len(r.Reports) != 1 || r.Reports[0].Kind != merge.KeptChanged {
			t.Errorf("machine %d, sync %d: reports %+v", n, i, r.Reports)
		}
		if r := machines[n].sync(t); len(r.Reports) > 0 {
			t.Errorf("machine %d: reports again %+v", n, r.Reports)
		}
		if _, err := machines[n].store.Item(ctx, it.ID); err != nil {
			t.Errorf("machine %d: %v", n, err)
		}
	}
}

// A branch that holds something else is never taken for one of items.
func TestForeignBranch(t *testing.T) {
	t.Parallel()
	g, _, machines := newMachines(t, 1)
	m := machines[0]
	gittest.Write(t, filepath.Join(m.clone, "code.go"), "package x\n")
	g.Run(m.clone, "add", ".")
	g.Run(m.clone, "commit", "-q", "-m", "code")
	g.Run(m.clone, "branch", itemsBranch)
	before := g.Run(m.clone, "rev-parse", itemsBranch)
	if _, err := m.syncer.Sync(t.Context()); err == nil || !strings.Contains(err.Error(), "not a branch of work items") {
		t.Errorf("got %v", err)
	}
	if after := g.Run(m.clone, "rev-parse", itemsBranch); after != before {
		t.Errorf("the branch moved from %s to %s", before, after)
	}
}

// A sync receives every file whose name a store can have, and nothing else of the branch: no link,
// hidden file, or deep directory.
func TestForeignFiles(t *testing.T) {
	t.Parallel()
	g, remote, machines := newMachines(t, 1)
	m := machines[0]
	m.sync(t)
	other := filepath.Join(t.TempDir(), "other")
	g.Run(filepath.Dir(other), "clone", "-q", "--branch", itemsBranch, remote, other)
	for _, name := range []string{"notes.txt", "hooks/x", "a/b/c", "a/b/c2/d", ".hidden", ".copse/lock2", "hooks/.x"} {
		gittest.Write(t, filepath.Join(other, filepath.FromSlash(name)), "foreign\n")
	}
	g.Run(other, "add", "--force", ".")
	g.Run(other, "update-index", "--chmod=+x", "hooks/x")
	link := strings.TrimSpace(g.Run(other, "rev-parse", "HEAD:config.yml"))
	g.Run(other, "update-index", "--add", "--cacheinfo", "120000,"+link+",link")
	g.Run(other, "commit", "-q", "-m", "foreign files")
	g.Run(other, "push", "-q", "origin", itemsBranch)
	before := m.files(t)
	m.sync(t)
	var received []string
	for name := range m.files(t) {
		if _, ok := before[name]; !ok {
			received = append(received, name)
		}
	}
	slices.Sort(received)
	if diff := cmp.Diff([]string{"a/b/c", "hooks/x", "notes.txt"}, received); diff != "" {
		t.Error(diff)
	}
	for _, name := range []string{"link", ".hidden", ".copse/lock2"} {
		if _, err := os.Lstat(filepath.Join(m.clone, ".git", "copse", "tic", filepath.FromSlash(name))); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// What it receives it keeps on the branch, without the other files, and as no program.
	if _, err := m.store.Create(t.Context(), item.Draft{Title: "x"}); err != nil {
		t.Fatal(err)
	}
	m.sync(t)
	sent := g.Run(remote, "ls-tree", "-r", itemsBranch)
	for name, want := range map[string]bool{"hooks/x": true, "a/b/c": true, "a/b/c2/d": false, "link": false, ".hidden": false, ".copse/lock2": false} {
		if got := strings.Contains(sent+"\n", "\t"+name+"\n"); got != want {
			t.Errorf("%s on the branch: %v\n%s", name, got, sent)
		}
	}
	if strings.Contains(sent, "100755") {
		t.Errorf("a program is on the branch:\n%s", sent)
	}
}

// holder returns who holds an item on a machine; "" if nobody does.
func (m *machine) holder(t *testing.T, id item.ID) string {
	t.Helper()
	s, err := m.store.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c, _ := s.Claim(id)
	return c.Holder.Name
}

// Of two clones that claim an item at the same time, the first to push keeps it. Histories
// have the changes of both.
func TestClaimsOfClones(t *testing.T) {
	t.Parallel()
	_, _, machines := newMachines(t, 2)
	one, other := machines[0], machines[1]
	as := func(name string) context.Context {
		return claim.WithAgent(t.Context(), claim.Agent{Name: name, Host: name + "'s"})
	}
	for range 2 {
		if _, err := one.store.Create(as("ada"), item.Draft{Title: "x"}); err != nil {
			t.Fatal(err)
		}
	}
	one.sync(t)
	other.sync(t)
	claim := func(m *machine, who string, id item.ID) {
		t.Helper()
		if _, err := m.store.Claim(as(who), storage.ClaimRequest{ID: id}); err != nil {
			t.Fatal(err)
		}
	}
	claim(one, "ada", 1)
	claim(other, "bob", 1)
	claim(other, "bob", 2)
	if _, err := other.store.Update(as("bob"), 1, item.Patch{Title: new("y")}); err != nil {
		t.Fatal(err)
	}
	if _, err := one.store.Update(as("ada"), 1, item.Patch{Assignee: new("ada")}); err != nil {
		t.Fatal(err)
	}
	other.sync(t) // first
	one.sync(t)
	other.sync(t)
	for _, m := range machines {
		if a, b := m.holder(t, 1), m.holder(t, 2); a != "bob" || b != "bob" {
			t.Errorf("on %s #1 is held by %q and #2 by %q", m.clone, a, b)
		}
		log, err := m.store.History(t.Context(), 1)
		if err != nil {
			t.Fatal(err)
		}
		var who []string
		for _, c := range log {
			who = append(who, c.By.Name+" "+string(c.Kind))
		}
		slices.Sort(who)
		if diff := cmp.Diff([]string{"ada created", "ada updated", "bob updated"}, who); diff != "" {
			t.Error(diff)
		}
	}
	_, err := one.store.Update(as("ada"), 1, item.Patch{Status: new("done")})
	if _, held := errors.AsType[*storage.HeldError](err); !held {
		t.Errorf("ada finishes what bob holds: %v", err)
	}
	if _, err := other.store.Update(as("bob"), 1, item.Patch{Status: new("done")}); err != nil {
		t.Error(err)
	}
	if _, _, err := other.store.Release(as("bob"), 2, false); err != nil {
		t.Error(err)
	}
	other.sync(t)
	one.sync(t)
	if a, b := one.holder(t, 1), one.holder(t, 2); a+b != "" {
		t.Errorf("after done and release they are held by %q and %q", a, b)
	}
}
