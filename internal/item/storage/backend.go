// Package storage is the contract between those who read and change work items and those who store
// them: what a [Backend] promises, which parts it can lack, and which errors it returns. Packages
// local and postgres are backends; package itemtest tests the contract.
package storage

import (
	"context"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/changes"
	"github.com/copse-dev/copse/internal/item/claim"
)

// Backend stores the items of one project. The callers that read and change items own this
// interface; package itemtest has the tests that each backend must pass.
//
// The interface is minimal: for reading, the configuration, all items without their long parts, and
// one complete item, because a Snapshot answers every question about many items; for writing, one
// method for each atomic change. Methods are safe for concurrent use. The result of a method
// reflects all changes before the call, by any program. After an error, nothing has changed.
type Backend interface {
	// Config returns the configuration of the project. The error can be ErrNoProject or a
	// *ConfigError.
	Config(ctx context.Context) (item.Config, error)

	// Snapshot returns all items. Its warnings name unreadable ones.
	Snapshot(ctx context.Context) (*item.Snapshot, error)

	// Item returns one item. The error can be an *item.NotFoundError or, if the item exists but is
	// unreadable, a *BrokenError; the same applies to all methods with an ID. Of an item that git
	// could not merge, it shows both versions, marked.
	Item(ctx context.Context, id item.ID) (item.Item, error)

	// Create creates an item from a draft, with a number that was never used. An unknown iteration
	// becomes known.
	Create(ctx context.Context, d item.Draft) (item.Item, error)

	// Update changes the fields of the patch and the time of the last update, nothing else: of two
	// concurrent updates of different fields, both survive. It first checks the patch, then finds
	// the item, then checks relations. An unknown iteration becomes known.
	Update(ctx context.Context, id item.ID, p item.Patch) (item.Item, error)

	// AddComment adds a comment. Without an author, it is by the agent of the call.
	AddComment(ctx context.Context, id item.ID, author, text string) (item.Comment, error)

	// Delete removes an item, and removes it from the parents and dependencies of others. If the
	// preview is no longer valid, the error is a *ChangedError. If another agent holds the item, the
	// error is a *HeldError, unless steal ends that claim, too.
	Delete(ctx context.Context, id item.ID, seen item.Fingerprint, steal bool) error

	// Restore restores a deleted item, with its former relations that are still possible.
	Restore(ctx context.Context, id item.ID) (item.Item, error)

	// SetIteration makes an iteration the current one, and known.
	SetIteration(ctx context.Context, name string) error

	// Capabilities returns the parts of this interface that the backend does not support. They are
	// constant.
	Capabilities() Capabilities

	Claimer
	Historian
}

// Claimer records which agent works on which item, so that no two work on one. The agent of a call
// is that of its context, see [claim.WithAgent].
//
// If several agents claim an item at the same time, in any processes, exactly one gets it. A claim
// is valid until it is released, the item is done or deleted, its lease ends without a call of the
// holder, or, on the machine of the holder, [claim.Grace] after another agent found that its process
// had ended, or that the worktree of a person at the command line had been removed. Snapshot has
// the valid claims. Update returns a *HeldError if it would finish an item
// that another agent holds, unless the patch has Steal; so do Delete and Undo, unless they steal. A
// theft ends the claim, and the history records the former holder.
type Claimer interface {
	// Claim gives the agent an item: the requested one, or the best one of [item.Snapshot.Claimable]. An
	// item that the agent already holds gets the new lease. The error can be a *HeldError, a
	// *item.NothingToClaimError, an *item.NotFoundError, or an *item.InvalidError for an item that is done.
	Claim(ctx context.Context, r ClaimRequest) (Claimed, error)

	// Release ends the claim of an item and returns it, false if nobody holds the item.
	// If another agent does, the error is a *HeldError, unless steal ends that claim, too.
	Release(ctx context.Context, id item.ID, steal bool) (claim.Claim, bool, error)

	// Renew records a call of the agent: its claims get their full lease again, and claims
	// whose holder's process on the same machine has ended get a note, so that they end after
	// [claim.Grace]. It writes only claims that are [claim.Claim.Due], and costs little if there is
	// nothing to write.
	Renew(ctx context.Context) error
}

// Historian records who changed what and when. Each change of an item through the backend, and each
// theft of a claim, is in the history or did not happen; an item keeps [changes.MaxChanges] changes.
type Historian interface {
	// History returns the changes of an item, including a deleted one, the latest last; for 0, the
	// latest [changes.MaxChanges] changes of all items. If a program without history changed the item, the
	// last change is of the kind Elsewhere.
	History(ctx context.Context, id item.ID) ([]changes.Change, error)

	// Undo undoes a change of an item according to [changes.PlanUndo], and returns that change. The error
	// can be a *changes.UndoError, or a *HeldError if another agent holds the item, unless steal ends that
	// claim, too.
	Undo(ctx context.Context, id item.ID, change string, steal bool) (changes.Change, error)
}
