package item

import "context"

// Backend keeps the items of one project. Whoever asks and changes items owns
// this interface; package itemtest has the tests that each backend must pass.
//
// It is the smallest that serves them: reading is the configuration, all items
// without their long parts, and one item whole, because every question about
// many is answered from a Snapshot; writing is one method for each change that
// must happen as a whole. Methods are safe for concurrent use. What a method
// returns is as of a moment after it was called: changes made before, by whom
// and however, are in it. After an error nothing has changed.
type Backend interface {
	// Config returns what the project says about its items. The error can be
	// ErrNoProject or a *ConfigError.
	Config(ctx context.Context) (Config, error)

	// Snapshot returns all items. What cannot be read is in its warnings.
	Snapshot(ctx context.Context) (*Snapshot, error)

	// Item returns one item. The error can be a *NotFoundError or, if it is there
	// but cannot be read, a *BrokenError; so it is with all methods that take one.
	// Of an item that git could not merge it shows both versions, marked.
	Item(ctx context.Context, id ID) (Item, error)

	// Create makes an item of a draft, with a number that was never used. An
	// iteration that is not known becomes so.
	Create(ctx context.Context, d Draft) (Item, error)

	// Update changes what the patch has and the time of the last update, nothing
	// else: two updates of different fields at the same time both stay. The patch
	// is checked first, then the item looked for, then relations are checked. An
	// iteration that is not known becomes so.
	Update(ctx context.Context, id ID, p Patch) (Item, error)

	// AddComment adds a comment, by default by Anonymous.
	AddComment(ctx context.Context, id ID, author, text string) (Comment, error)

	// Delete removes an item, and takes it out of the parents and dependencies of
	// others. If the preview it was seen in does not hold any more, the error is a
	// *ChangedError.
	Delete(ctx context.Context, id ID, seen Fingerprint) error

	// Restore brings a deleted item back, with the relations that it had and that
	// are still possible.
	Restore(ctx context.Context, id ID) (Item, error)

	// SetIteration makes an iteration the current one, and known.
	SetIteration(ctx context.Context, name string) error

	// Capabilities returns the parts of this interface that the backend does not support.
	// They do not change while it is in use.
	Capabilities() Capabilities

	Claimer
	Historian
}

// Claimer keeps which agent works on which item, so that no two work on one. The agent of a
// call is that of its context, see [WithAgent].
//
// Of any number of agents that claim an item at the same time, in whatever processes, one
// gets it. A claim counts until it is released, the item is done or deleted, its lease ends
// without a call of the holder, or, on the machine of the holder, [ClaimGrace] after another
// agent found its process gone. Snapshot has the claims that count. Update returns a
// *HeldError if it would finish an item that another agent holds, unless the patch says
// Steal; then the history says from whom it was stolen.
type Claimer interface {
	// Claim gives the agent an item: the one that is asked for, or the best one of
	// [Snapshot.Claimable]. An item that the agent holds gets the new lease. The error
	// can be a *HeldError, a *NothingToClaimError, a *NotFoundError, or an
	// *InvalidError for an item that is done.
	Claim(ctx context.Context, r ClaimRequest) (Claimed, error)

	// Release ends the claim of an item and returns it, false if nobody holds the item.
	// If another agent does, the error is a *HeldError, unless steal ends that claim, too.
	Release(ctx context.Context, id ID, steal bool) (Claim, bool, error)

	// Renew notes a call of the agent: its claims count for their whole lease again. It
	// writes only what is [Claim.Due], and costs little where the agent holds nothing.
	Renew(ctx context.Context) error
}

// Historian keeps who changed what and when. Each change of an item by way of the backend,
// and each theft of a claim, is in the history or did not happen; [MaxHistory] are kept for
// an item.
type Historian interface {
	// History returns the changes of an item, also of a deleted one, the latest last; for
	// 0 the latest MaxHistory changes of all items. If the item was changed by a program
	// that keeps no history, the last change is of the kind Elsewhere.
	History(ctx context.Context, id ID) ([]Change, error)

	// Undo undoes a change of an item as [PlanUndo] says, and returns that change. The
	// error can be an *UndoError.
	Undo(ctx context.Context, id ID, change string) (Change, error)
}
