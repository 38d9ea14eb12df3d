package toolset

import "context"

// Room is how much of an answer a client hands to its model. Beyond that clients cut answers
// in the middle, or put them into a file, so tools cut theirs before, and say where they go on.
type Room struct {
	// Bytes are counted as JSON; 0 is no limit.
	Bytes int
	// Lines are those of a text; 0 is no limit.
	Lines int
}

type roomKey struct{}

// WithRoom returns a context that says how much of an answer the caller takes.
func WithRoom(ctx context.Context, r Room) context.Context {
	return context.WithValue(ctx, roomKey{}, r)
}

// RoomFor returns how many bytes an answer may have that needs at most so many.
func RoomFor(ctx context.Context, most int) int {
	if r, _ := ctx.Value(roomKey{}).(Room); r.Bytes > 0 {
		return min(r.Bytes, most)
	}
	return most
}

// RoomForLines returns how many lines a text may have that is asked for with a limit, 0 for none.
func RoomForLines(ctx context.Context, limit int) int {
	r, _ := ctx.Value(roomKey{}).(Room)
	if limit == 0 || r.Lines == 0 {
		return max(limit, r.Lines)
	}
	return min(limit, r.Lines)
}
