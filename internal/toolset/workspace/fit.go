package workspace

import (
	"context"
	"math"

	"github.com/copse-dev/copse/internal/page"
	"github.com/copse-dev/copse/internal/toolset"
)

// fit calls read with fewer and fewer bytes until the result takes no more than the caller's room,
// counted as JSON, in which some characters take more.
func fit(ctx context.Context, read func(bytes int) (shown string, err error)) error {
	const attempts = 4
	room := toolset.RoomFor(ctx, math.MaxInt)
	bytes := room
	for range attempts {
		shown, err := read(bytes)
		if err != nil || room == math.MaxInt {
			return err
		}
		size := page.Size(shown)
		if size <= room {
			return nil
		}
		bytes = max(1, min(bytes, len(shown))*room/size-1)
	}
	return nil
}
