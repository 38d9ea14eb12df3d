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
}
