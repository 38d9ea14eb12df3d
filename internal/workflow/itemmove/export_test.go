package itemmove

import (
	"context"

	"github.com/copse-dev/copse/internal/item/archive"
)

// Interrupt is a Move that ends, as if it was killed, as soon as the copy is complete, with the
// error, or, without an error, as soon as the old store was left.
func Interrupt(ctx context.Context, from, to Endpoint, err error) error {
	m := mover{from: from, to: to, enter: func(ctx context.Context, from, to Endpoint, all archive.Archive) error {
		if failed := enter(ctx, from, to, all); failed != nil {
			return failed
		}
		return err
	}}
	return m.copy(ctx, false)
}
