package itemtest

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/changes"
	"github.com/copse-dev/copse/internal/item/claim"
	"github.com/copse-dev/copse/internal/item/itemtest/dense"
	"github.com/copse-dev/copse/internal/item/storage"
	"github.com/copse-dev/copse/internal/xec/family"
)

// Project is a project of [Run] for several agents at the same time.
type Project struct {
	// Open returns what one more program opens.
	Open func(t *testing.T) storage.Backend
	// Pass makes the claims of the project older, as if this time had passed.
	Pass func(t *testing.T, d time.Duration)

	numbers *dense.Numbering
}

// config is the configuration of the test projects.
const config = `types: [epic, issue, task]
statuses: [backlog, todo, done]
iterations: [default]
current_iteration: default
`

// Configure writes the configuration of a project in the files of a directory.
func Configure(t *testing.T, dir string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, ".tic", "config.yml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
}

// RunFleet tests what several agents need: claims, and the history of items. In short mode, they
// claim fewer items.
func RunFleet(t *testing.T, create func(t *testing.T) Project) {
	t.Helper()
	items := Items
	if testing.Short() {
		items = FewItems
	}
	RunFleetOf(t, items, create)
}

// RunFleetOf runs the tests of RunFleet with a number of items for many claimers.
func RunFleetOf(t *testing.T, items int, create func(t *testing.T) Project) {
	t.Helper()
	for name, test := range map[string]func(*testing.T, Project){
		"claim":              testClaim,
		"claim the best":     testClaimBest,
		"claim what is free": testClaimFree,
		"claim refused":      testClaimRefused,
		"claims end":         testClaimsEnd,
		"claims are stolen":  testClaimsStolen,
		"held is kept":       testHeldIsKept,
		"worktree claims":    testWorktreeClaims,
		"dead holders":       testDeadHolders,
		"many claimers":      func(t *testing.T, p Project) { testManyClaimers(t, p, items) },
		"history":            testHistory,
		"bounded history":    testHistoryBounded,
		"undo":               testUndo,
		"undo refused":       testUndoRefused,
		"undo in turn":       testUndoInTurn,
		"others":             testOthers,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := create(t)
			p.numbers = new(dense.Numbering)
			test(t, p)
		})
	}
}

// Agent returns an agent of this process, with its own worktree.
func Agent(name string) claim.Agent {
	return claim.Agent{Name: name, Worktree: "/trees/" + name, Host: "here", Process: family.Identify(os.Getpid())}
}

// agent is a backend as an agent uses it. Its calls must not fail.
type agent struct {
	backend
	claim.Agent
	ctx context.Context //nolint:containedctx // whose calls these are
}

// as returns what an agent has opened.
func (p Project) as(t *testing.T, a claim.Agent) agent {
	t.Helper()
	return agent{newBackend(t, p.Open(t), p.numbers), a, claim.WithAgent(t.Context(), a)}
}

// two returns what two agents have opened.
func (p Project) two(t *testing.T) (ada, bob agent) {
	t.Helper()
	return p.as(t, Agent("ada")), p.as(t, Agent("bob"))
}

func (a agent) claim(r storage.ClaimRequest) storage.Claimed {
	a.t.Helper()
	got, err := a.Claim(a.ctx, r)
	if err != nil {
		a.t.Fatalf("claim %+v: %v", r, err)
	}
	return got
}

func (a agent) change(id item.ID, p item.Patch) item.Item {
	a.t.Helper()
	it, err := a.Update(a.ctx, id, p)
	if err != nil {
		a.t.Fatalf("update %d: %v", id, err)
	}
	return it
}

func (a agent) history(id item.ID) []changes.Change {
	a.t.Helper()
	log, err := a.History(a.ctx, id)
	if err != nil {
		a.t.Fatalf("history of %d: %v", id, err)
	}
	return log
}

func (a agent) undo(id item.ID, change string) changes.Change {
	a.t.Helper()
	c, err := a.Undo(a.ctx, id, change, false)
	if err != nil {
		a.t.Fatalf("undo %q of %d: %v", change, id, err)
	}
	return c
}

// held returns who holds which items, as a snapshot has it.
func (a agent) held() map[item.ID]string {
	a.t.Helper()
	s := a.snapshot()
	held := map[item.ID]string{}
	for _, it := range s.Claims() {
		c, _ := s.Claim(it.ID)
		held[it.ID] = c.Holder.Name
	}
	return held
}
