package itemtest

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/changes"
	"github.com/copse-dev/copse/internal/item/claim"
	"github.com/copse-dev/copse/internal/item/storage"
	"github.com/copse-dev/copse/internal/lockedstore"
	"github.com/copse-dev/copse/internal/xec/family"
)

// isHeld checks that an error names who holds an item, and until when.
func isHeld(t *testing.T, what string, err error, holder string) {
	t.Helper()
	held, ok := errors.AsType[*storage.HeldError](err)
	if !ok || held.Claim.Holder.Name != holder || held.Error() != err.Error() {
		t.Errorf("%s: got %v, want that %s holds it", what, err, holder)
		return
	}
	for _, part := range []string{`"` + holder + `" in /trees/` + holder, fmt.Sprintf("process %d on here", os.Getpid()), held.Claim.Expires.UTC().Format(time.RFC3339)} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%s: %q does not name %q", what, err, part)
		}
	}
}

func testClaim(t *testing.T, p Project) {
	ada, bob := p.two(t)
	it := ada.create(item.Draft{Title: "x"})
	begin := time.Now()
	got := ada.claim(storage.ClaimRequest{ID: 1})
	diff(t, "the item", it, got.Item)
	diff(t, "the holder", ada.Agent, got.Claim.Holder)
	if lease := got.Claim.Expires.Sub(begin); got.Claim.Lease() != claim.DefaultLease || lease < claim.DefaultLease-time.Minute || lease > claim.DefaultLease+time.Minute {
		t.Errorf("it is claimed until %s, for %s", got.Claim.Expires, got.Claim.Lease())
	}
	for _, a := range []agent{ada, bob} {
		diff(t, "claims", map[item.ID]string{1: "ada"}, a.held())
		diff(t, "ready items", 0, len(a.snapshot().List(a.config(), item.Filter{Ready: true})))
	}
	_, err := bob.Claim(bob.ctx, storage.ClaimRequest{ID: 1})
	isHeld(t, "claim", err, "ada")
	_, err = bob.Update(bob.ctx, 1, item.Patch{Status: new("done")})
	isHeld(t, "finish", err, "ada")
	_, _, err = bob.Release(bob.ctx, 1, false)
	isHeld(t, "release", err, "ada")
	diff(t, "the item", it, bob.item(1))

	// Only the holder can finish it.
	bob.change(1, item.Patch{Status: new("todo"), Labels: new([]string{"l"})})
	if _, err := bob.AddComment(bob.ctx, 1, "", "text"); err != nil {
		t.Error(err)
	}

	again := ada.claim(storage.ClaimRequest{ID: 1, Lease: 5 * time.Minute})
	if again.Claim.Lease() != 5*time.Minute || !again.Claim.Since.Equal(got.Claim.Since) {
		t.Errorf("claimed again: %+v", again.Claim)
	}
	c, was, err := ada.Release(ada.ctx, 1, false)
	if err != nil || !was || c.Holder != ada.Agent {
		t.Errorf("released: %+v, %v, %v", c, was, err)
	}
	if _, was, err := bob.Release(bob.ctx, 1, false); was || err != nil {
		t.Errorf("released twice: %v, %v", was, err)
	}
	diff(t, "claims", map[item.ID]string{}, bob.held())
	bob.claim(storage.ClaimRequest{ID: 1})

	// A client chooses its name, and holds what it claims.
	named := Agent("eve")
	named.Name = strings.Repeat("n", 100_000)
	long := p.as(t, named)
	long.claim(storage.ClaimRequest{ID: long.create(item.Draft{Title: "z"}).ID})
	if _, err := bob.Claim(bob.ctx, storage.ClaimRequest{ID: 2}); err == nil || !strings.Contains(err.Error(), `is claimed by "nnnn`) {
		t.Errorf("the holder has a long name: %v", err)
	}
}

func testClaimBest(t *testing.T, p Project) {
	ada, bob := p.two(t)
	for _, d := range []item.Draft{
		{Title: "1", Priority: "low"},
		{Title: "2", Priority: "critical", Iteration: "later"},
		{Title: "3", Priority: "critical"}, // has an open child
		{Title: "4", Priority: "medium", Parent: 3}, {Title: "5", Priority: "medium"}, {Title: "6", Priority: "high"},
		{Title: "7", Priority: "critical", DependsOn: []item.ID{6}},
		{Title: "8", Priority: "critical", Status: "done"},
		{Title: "9", Priority: "critical", Status: "todo", Assignee: "eve"},
		{Title: "10", Priority: "high", Status: "todo"},
	} {
		ada.create(d)
	}
	var got []item.ID
	for i := range 6 {
		got = append(got, []agent{ada, bob}[i%2].claim(storage.ClaimRequest{}).Item.ID)
	}
	diff(t, "order", []item.ID{6, 10, 4, 5, 1, 2}, got)
	_, err := ada.Claim(ada.ctx, storage.ClaimRequest{}) // not 3, whose child is open
	nothing, ok := errors.AsType[*item.NothingToClaimError](err)
	if !ok || nothing.Claimed != 6 || nothing.Next.IsZero() {
		t.Errorf("nothing is left: %v", err)
	}
	for done, next := range map[item.ID]item.ID{6: 7, 4: 3} {
		ada.change(done, item.Patch{Status: new("done")})
		diff(t, "next", next, bob.claim(storage.ClaimRequest{}).Item.ID)
	}
}

// An agent can claim an item that is not recommended.
func testClaimFree(t *testing.T, p Project) {
	ada, bob := p.two(t)
	ada.create(item.Draft{Title: "1"})
	ada.create(item.Draft{Title: "2", DependsOn: []item.ID{1}})
	ada.create(item.Draft{Title: "3", Status: "todo", Assignee: "eve"})
	for id := item.ID(2); id <= 3; id++ {
		bob.claim(storage.ClaimRequest{ID: id})
	}
	diff(t, "claims", map[item.ID]string{2: "bob", 3: "bob"}, ada.held())
}

func testClaimRefused(t *testing.T, p Project) {
	ada, _ := p.two(t)
	ada.create(item.Draft{Title: "1", Status: "done"})
	ada.create(item.Draft{Title: "2"})
	for want, r := range map[string]storage.ClaimRequest{
		"Work item #7 not found": {ID: 7},
		`Work item #1 is "done". Set another status before claiming it`: {ID: 1},
		"To steal a claim, specify the ID of the item":                  {Steal: true},
		"Invalid lease of 59s. A lease has 1 to 1440 minutes":           {ID: 2, Lease: 59 * time.Second},
		"Invalid lease of 24h0m1s. A lease has 1 to 1440 minutes":       {ID: 2, Lease: 24*time.Hour + time.Second},
	} {
		_, err := ada.Claim(ada.ctx, r)
		diff(t, "message", want, message(err))
	}
	if _, err := ada.Claim(t.Context(), storage.ClaimRequest{ID: 2}); err == nil {
		t.Error("nobody claimed it")
	}
	diff(t, "claims", map[item.ID]string{}, ada.held())
	if _, _, err := ada.Release(ada.ctx, 7, false); !item.IsNotFound(err) {
		t.Errorf("released: %v", err)
	}
}

func testClaimsEnd(t *testing.T, p Project) {
	ada, bob := p.two(t)
	for range 4 {
		ada.create(item.Draft{Title: "x"})
	}
	for id := item.ID(1); id <= 4; id++ {
		ada.claim(storage.ClaimRequest{ID: id, Lease: time.Duration(id) * 10 * time.Minute})
	}
	ada.change(4, item.Patch{Status: new("done")})
	diff(t, "after it is done", map[item.ID]string{1: "ada", 2: "ada", 3: "ada"}, bob.held())
	if err := ada.Delete(ada.ctx, 3, "", false); err != nil {
		t.Fatal(err)
	}
	if ada.Capabilities().Deletion != storage.Final {
		ada.restore(3)
	}
	diff(t, "after it is deleted", map[item.ID]string{1: "ada", 2: "ada"}, bob.held())

	p.Pass(t, 9*time.Minute)
	if err := bob.Renew(bob.ctx); err != nil {
		t.Fatal(err)
	}
	if err := ada.Renew(ada.ctx); err != nil {
		t.Fatal(err)
	}
	p.Pass(t, 9*time.Minute)
	diff(t, "renewed by the holder", map[item.ID]string{1: "ada", 2: "ada"}, bob.held())
	p.Pass(t, 2*time.Minute)
	diff(t, "after the lease of one", map[item.ID]string{2: "ada"}, bob.held())
	bob.claim(storage.ClaimRequest{ID: 1, Lease: 24 * time.Hour})
	_, err := ada.Update(ada.ctx, 1, item.Patch{Status: new("done")})
	isHeld(t, "finished too late", err, "bob")
	p.Pass(t, 10*time.Minute)
	bob.change(2, item.Patch{Status: new("done")})
}

func testClaimsStolen(t *testing.T, p Project) {
	ada, bob := p.two(t)
	ada.create(item.Draft{Title: "1"})
	ada.create(item.Draft{Title: "2"})
	ada.claim(storage.ClaimRequest{ID: 1})
	ada.claim(storage.ClaimRequest{ID: 2})
	got := bob.claim(storage.ClaimRequest{ID: 1, Steal: true})
	diff(t, "the holder", bob.Agent, got.Claim.Holder)
	diff(t, "stolen from", ada.String(), got.Claim.StolenFrom)
	diff(t, "claims", map[item.ID]string{1: "bob", 2: "ada"}, ada.held())
	bob.change(2, item.Patch{Status: new("done"), Steal: true})
	for id, kind := range map[item.ID]changes.Kind{1: changes.Stolen, 2: changes.Updated} {
		log := ada.history(id)
		last := log[len(log)-1]
		if last.Kind != kind || last.By.Name != "bob" || last.StolenFrom != ada.String() {
			t.Errorf("the history of %d ends with %+v", id, last)
		}
	}
	if _, was, err := ada.Release(ada.ctx, 1, true); !was || err != nil {
		t.Errorf("release with steal: %v, %v", was, err)
	}
	diff(t, "claims", map[item.ID]string{}, ada.held())
}

// Only the holder deletes an item, and undoes its changes.
func testHeldIsKept(t *testing.T, p Project) {
	ada, bob := p.two(t)
	for id := item.ID(1); id <= 2; id++ {
		ada.create(item.Draft{Title: "x"})
		ada.change(id, item.Patch{Title: new("y")})
		ada.claim(storage.ClaimRequest{ID: id})
	}
	it := ada.item(1)
	isHeld(t, "delete", bob.Delete(bob.ctx, 1, "", false), "ada")
	_, err := bob.Undo(bob.ctx, 1, "", false)
	isHeld(t, "undo", err, "ada")
	diff(t, "the item", it, bob.item(1))
	ada.undo(1, "")
	diff(t, "claims", map[item.ID]string{1: "ada", 2: "ada"}, bob.held())

	if err := bob.Delete(bob.ctx, 1, "", true); err != nil {
		t.Fatal(err)
	}
	if _, err := bob.Undo(bob.ctx, 2, "", true); err != nil {
		t.Fatal(err)
	}
	diff(t, "the title", "x", bob.item(2).Title)
	diff(t, "claims", map[item.ID]string{}, ada.held())
	for id := item.ID(1); id <= 2; id++ {
		thefts := 0
		for _, c := range ada.history(id) {
			if c.StolenFrom == ada.String() && c.By.Name == "bob" {
				thefts++
			}
		}
		diff(t, "thefts", 1, thefts)
	}
}

// The claim of a person at the command line is for a worktree.
func testWorktreeClaims(t *testing.T, p Project) {
	ada, bob := p.two(t)
	for range 3 {
		ada.create(item.Draft{Title: "x"})
	}
	person := claim.Agent{Name: "eve", Worktree: ada.Worktree, Host: ada.Host}
	eve := p.as(t, person)
	for id := item.ID(1); id <= 3; id++ {
		eve.claim(storage.ClaimRequest{ID: id, Lease: time.Hour})
	}
	_, err := bob.Update(bob.ctx, 1, item.Patch{Status: new("done")})
	if _, ok := errors.AsType[*storage.HeldError](err); !ok {
		t.Errorf("finished from another worktree: %v", err)
	}
	p.Pass(t, 50*time.Minute)
	if err := ada.Renew(ada.ctx); err != nil {
		t.Fatal(err)
	}
	p.Pass(t, 50*time.Minute)
	diff(t, "after a call in the worktree", map[item.ID]string{1: "eve", 2: "eve", 3: "eve"}, bob.held())
	ada.change(1, item.Patch{Status: new("done")})
	if _, was, err := ada.Release(ada.ctx, 2, false); !was || err != nil {
		t.Errorf("released: %v, %v", was, err)
	}
	if got := ada.claim(storage.ClaimRequest{ID: 3}); got.Claim.StolenFrom != "" || got.Claim.Holder != ada.Agent {
		t.Errorf("taken over: %+v", got.Claim)
	}
	diff(t, "claims", map[item.ID]string{3: "ada"}, bob.held())
	_, err = eve.Claim(eve.ctx, storage.ClaimRequest{ID: 3})
	isHeld(t, "claimed back", err, "ada")
}

func testDeadHolders(t *testing.T, p Project) {
	_, bob := p.two(t)
	for range 5 {
		bob.create(item.Draft{Title: "x"})
	}
	dead := Agent("dead")
	dead.Process.Start = "another one, whose number was given to this process"
	far := dead
	far.Name, far.Host = "far", "there"
	p.as(t, dead).claim(storage.ClaimRequest{ID: 1})
	p.as(t, dead).claim(storage.ClaimRequest{ID: 2})
	p.as(t, far).claim(storage.ClaimRequest{ID: 3})
	p.as(t, dead).claim(storage.ClaimRequest{ID: 4})
	p.as(t, far).claim(storage.ClaimRequest{ID: 5})

	// Any call of another agent on the machine notes that the process is gone. Nobody asks
	// for these items.
	if err := bob.Renew(bob.ctx); err != nil {
		t.Fatal(err)
	}
	snapshot := bob.snapshot()
	for id, marked := range map[item.ID]bool{4: true, 5: false} {
		if c, held := snapshot.Claim(id); !held || !c.Gone.IsZero() != marked {
			t.Errorf("after a call, the claim of %d is %+v, %v", id, c, held)
		}
	}
	// The first to look for work finds that the process is gone.
	for id := item.ID(1); id <= 3; id++ {
		_, err := bob.Claim(bob.ctx, storage.ClaimRequest{ID: id})
		if _, held := errors.AsType[*storage.HeldError](err); !held || strings.HasSuffix(err.Error(), ", whose process has ended") != (id != 3) {
			t.Errorf("claim %d: %v", id, err)
		}
	}
	// The same client, restarted, continues with it.
	p.as(t, Agent("dead")).claim(storage.ClaimRequest{ID: 2})
	p.Pass(t, claim.Grace+time.Second)
	diff(t, "claims", map[item.ID]string{2: "dead", 3: "far", 5: "far"}, bob.held())
	ready := bob.snapshot().List(bob.config(), item.Filter{Ready: true})
	if len(ready) != 2 || ready[0].ID != 1 || ready[1].ID != 4 {
		t.Errorf("ready are %v", ready)
	}
	diff(t, "free", item.ID(1), bob.claim(storage.ClaimRequest{}).Item.ID)
	if dead.Process.Gone() == (family.Process{}).Gone() {
		t.Error("the process runs")
	}
}

// Claimers is the number of agents that claim items at the same time, and Items the number of
// items; FewItems are enough to test one difference.
const (
	Claimers = 64
	Items    = 1000
	FewItems = 100
)

// 64 claimers on 1,000 items get each item once.
func testManyClaimers(t *testing.T, p Project, items int) {
	t.Helper()
	first := p.as(t, Agent("first"))
	for i := range items {
		first.create(item.Draft{Title: fmt.Sprint("item ", i)})
	}
	var mu sync.Mutex
	got := map[item.ID]string{}
	var all sync.WaitGroup
	for n := range Claimers {
		a := p.as(t, Agent(fmt.Sprint("agent", n)))
		all.Go(func() {
			for {
				c, err := a.Claim(a.ctx, storage.ClaimRequest{})
				if _, none := errors.AsType[*item.NothingToClaimError](err); none {
					return
				}
				if _, busy := errors.AsType[*lockedstore.BusyError](err); busy {
					continue // a slow machine: the error says to try again, and nothing was changed
				}
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				if by, twice := got[c.Item.ID]; twice {
					t.Errorf("#%d was claimed by %s and %s", c.Item.ID, by, a.Name)
				}
				got[c.Item.ID] = a.Name
				mu.Unlock()
			}
		})
	}
	all.Wait()
	if len(got) != items {
		t.Errorf("%d of %d items were claimed", len(got), items)
	}
	diff(t, "claims", got, first.held())
}
