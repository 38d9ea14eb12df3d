package local_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/claim"
	"github.com/copse-dev/copse/internal/item/claimfile"
	"github.com/copse-dev/copse/internal/item/itemtest"
	"github.com/copse-dev/copse/internal/item/local"
	"github.com/copse-dev/copse/internal/item/local/location"
	"github.com/copse-dev/copse/internal/item/storage"
	"github.com/copse-dev/copse/internal/lockedstore"
)

// claimerVariable is the directory in which the test program claims items until it is killed.
const claimerVariable = "ITEM_LOCAL_TEST_CLAIMER"

// claimUntilKilled says which items it got.
func claimUntilKilled(dir string) {
	s := local.New(location.Search{Dir: dir}, time.Now)
	ctx := claim.WithAgent(context.Background(), itemtest.Agent(fmt.Sprint("claimer ", os.Getpid())))
	for {
		got, err := s.Claim(ctx, storage.ClaimRequest{})
		if _, none := errors.AsType[*item.NothingToClaimError](err); none {
			return
		}
		if _, busy := errors.AsType[*lockedstore.BusyError](err); busy {
			continue
		}
		if err != nil {
			fmt.Println("error", err)
			return
		}
		fmt.Println("got", got.Item.ID)
	}
}

// Claimers are killed at any moment. No item is given twice, and what the dead held is free
// after a while.
func TestKilledClaimers(t *testing.T) {
	t.Parallel()
	const claimers, lines, items = 6, 5, 60
	dir := project(t)
	s := open(t, dir, true)
	for range items {
		if _, err := s.Create(t.Context(), item.Draft{Title: "x"}); err != nil {
			t.Fatal(err)
		}
	}
	var mu sync.Mutex
	got := map[string]int{}
	var group sync.WaitGroup
	for range claimers {
		group.Go(func() {
			cmd := exec.CommandContext(t.Context(), os.Args[0])
			cmd.Env = append(os.Environ(), claimerVariable+"="+dir)
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Error(err)
				return
			}
			if err := cmd.Start(); err != nil {
				t.Error(err)
				return
			}
			for n, said := 0, bufio.NewScanner(out); said.Scan(); n++ {
				mu.Lock()
				got[said.Text()]++
				mu.Unlock()
				if n == lines {
					_ = cmd.Process.Kill()
				}
			}
			_ = cmd.Wait()
		})
	}
	group.Wait()
	for what, times := range got {
		if times > 1 || !strings.HasPrefix(what, "got ") {
			t.Errorf("%d times: %s", times, what)
		}
	}
	later := local.New(location.Search{Dir: dir}, func() time.Time { return time.Now().Add(claim.Grace + time.Second) })
	t.Cleanup(func() { _ = later.Close() })
	ctx := claim.WithAgent(t.Context(), itemtest.Agent("heir"))
	snapshot, err := s.Snapshot(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if held := len(snapshot.Claims()); held < len(got) {
		t.Errorf("%d claims are left of %d", held, len(got))
	}
	for _, it := range snapshot.Claims() { // finds that the holders are gone
		if _, err := s.Claim(ctx, storage.ClaimRequest{ID: it.ID}); err == nil {
			t.Errorf("#%d was free at once", it.ID)
		}
	}
	for range items {
		if _, err := later.Claim(ctx, storage.ClaimRequest{}); err != nil {
			t.Fatal(err)
		}
	}
}

// Each worktree has items of its own in its tree, and all have the same claims.
func TestClaimsOfWorktrees(t *testing.T) {
	t.Parallel()
	common := t.TempDir()
	one, other := project(t), project(t)
	in := func(root string) *local.Store {
		s := local.New(location.Search{Dir: root, Root: root, Shared: filepath.Join(common, "copse", "tic")}, time.Now)
		t.Cleanup(func() { _ = s.Close() })
		return s
	}
	text := strings.Replace(itemText("1"), "status: todo", "status: backlog\ncreated: 2026-01-02T03:04:05.678Z", 1)
	write(t, one, "items/1.md", text)
	write(t, other, "items/1.md", text)
	// On another branch the number is that of another item.
	write(t, other, "items/2.md", itemText("2", "created: 2026-01-02T03:04:05.111Z"))
	write(t, one, "items/2.md", itemText("2", "created: 2026-01-02T03:04:05.222Z"))
	ada, bob := claim.WithAgent(t.Context(), itemtest.Agent("ada")), claim.WithAgent(t.Context(), itemtest.Agent("bob"))
	for id := item.ID(1); id <= 2; id++ {
		if _, err := in(one).Claim(ada, storage.ClaimRequest{ID: id}); err != nil {
			t.Fatal(err)
		}
	}
	_, err := in(other).Claim(bob, storage.ClaimRequest{ID: 1})
	if _, held := errors.AsType[*storage.HeldError](err); !held {
		t.Errorf("claimed in two worktrees: %v", err)
	}
	if _, err := in(other).Claim(bob, storage.ClaimRequest{ID: 2}); err != nil {
		t.Errorf("the claim is of the number alone: %v", err)
	}
	watched, err := in(one).Watched()
	if files, _ := filepath.Glob(filepath.Join(watched[len(watched)-1], "*.json")); err != nil || len(watched) != 2 || len(files) == 0 {
		t.Errorf("the claims are in none of %v, %v", watched, err)
	}
	for _, dir := range []string{one, other} {
		if found, err := os.ReadDir(path(dir, "")); err != nil || len(found) != 3 { // .copse, config.yml, items
			t.Errorf("the tree has %v, %v", found, err)
		}
	}
}

// A file that someone damaged is not a claim, and copse follows no link.
func TestHostileClaims(t *testing.T) {
	t.Parallel()
	dir := project(t)
	s := open(t, dir, true)
	ctx := claim.WithAgent(t.Context(), itemtest.Agent("ada"))
	it, err := s.Create(ctx, item.Draft{Title: "x"})
	if err != nil {
		t.Fatal(err)
	}
	name := ".copse/claims/" + claimfile.Name(it.ID, it.Created)
	for _, text := range []string{
		"", "[", "{}", `{"item":"x"}`, `{"item":2,"created":"x","expires":"2099-01-01T00:00:00Z"}`,
		fmt.Sprintf(`{"item":1,"created":%q,"holder":{"name":"eve"},"renewed":"1999-01-01T00:00:00Z","expires":"2999-01-01T00:00:00Z"}`, it.Created),
		fmt.Sprintf(`{"item":1,"created":%q,"holder":{"name":"eve"},"renewed":"2099-01-01T00:00:00Z","expires":"2099-01-01T01:00:00Z"}`, it.Created),
		strings.Repeat(" ", claimfile.MaxSize+1),
	} {
		write(t, dir, name, text)
		if snapshot, err := s.Snapshot(ctx); err != nil || len(snapshot.Claims()) != 0 {
			t.Errorf("%.40q is a claim: %v", text, err)
		}
	}
	// A claim counts under its own name alone: nobody would find it to end it.
	good := fmt.Sprintf(`{"item":1,"created":%q,"holder":{"name":"eve"},"renewed":%q,"expires":%q}`,
		it.Created, time.Now().UTC().Format(time.RFC3339), time.Now().Add(time.Minute).UTC().Format(time.RFC3339))
	write(t, dir, ".copse/claims/other.json", good)
	if snapshot, err := s.Snapshot(ctx); err != nil || len(snapshot.Claims()) != 0 {
		t.Errorf("a file with another name is a claim: %v", err)
	}
	if _, err := s.Claim(ctx, storage.ClaimRequest{ID: 1}); err != nil {
		t.Error(err)
	}
	outside := t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "kept"), []byte("kept"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(path(dir, ".copse/claims")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, path(dir, ".copse/claims")); err != nil {
		t.Skip("symbolic links cannot be made here:", err)
	}
	if _, err := s.Claim(ctx, storage.ClaimRequest{ID: 1}); err == nil {
		t.Error("a claim is written through a link")
	}
	if found, err := os.ReadDir(outside); err != nil || len(found) != 1 {
		t.Errorf("outside are %v, %v", found, err)
	}
}

// A process that was killed between the history and the item leaves a history of what
// happened. What another program changed is in the history as such.
func TestHistoryOfWhatHappened(t *testing.T) {
	t.Parallel()
	dir := project(t)
	s := open(t, dir, true)
	ctx := claim.WithAgent(t.Context(), itemtest.Agent("ada"))
	if _, err := s.Create(ctx, item.Draft{Title: "first"}); err != nil {
		t.Fatal(err)
	}
	kinds := func() string {
		log, err := s.History(ctx, 1)
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, c := range log {
			all = append(all, string(c.Kind))
		}
		return strings.Join(all, " ")
	}
	before := read(t, dir, "items/1.md")
	if _, err := s.Update(ctx, 1, item.Patch{Title: new("second")}); err != nil {
		t.Fatal(err)
	}
	write(t, dir, "items/1.md", before) // killed before the item was put in place
	diff(t, "after a kill", "created", kinds())
	if _, err := s.Update(ctx, 1, item.Patch{Title: new("third")}); err != nil {
		t.Fatal(err)
	}
	diff(t, "after the next change", "created updated", kinds())
	later := strings.Replace(read(t, dir, "items/1.md"), "third", "fourth", 1)
	it, err := s.Item(ctx, 1)
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, "items/1.md", strings.Replace(later, it.Updated, "2099-01-01T00:00:00.000Z", 1))
	diff(t, "after an edit", "created updated elsewhere", kinds())
	if _, err := s.Undo(ctx, 1, "", false); err == nil || !strings.Contains(err.Error(), "by another program") {
		t.Errorf("an edit is undone: %v", err)
	}
}
