package toolset

import "context"

// Room is how much of an answer a client passes on to its model. Clients cut longer answers in the
// middle, or write them to a file, so tools cut theirs earlier, and state how to continue.
type Room struct {
	// Bytes are counted as JSON; 0 means no limit.
	Bytes int
	// Lines are those of a text; 0 means no limit.
	Lines int
}

type roomKey struct{}

// WithRoom returns a context with the caller's limit for an answer.
func WithRoom(ctx context.Context, r Room) context.Context {
	return context.WithValue(ctx, roomKey{}, r)
}

// RoomFor returns the maximum size of an answer in bytes for a tool that needs at most a given
// size.
func RoomFor(ctx context.Context, maximum int) int {
	if r, _ := ctx.Value(roomKey{}).(Room); r.Bytes > 0 {
		return min(r.Bytes, maximum)
	}
	return maximum
}

// RoomForLines returns the maximum number of lines of a text with a requested limit, 0 for none.
func RoomForLines(ctx context.Context, limit int) int {
	r, _ := ctx.Value(roomKey{}).(Room)
	if limit == 0 || r.Lines == 0 {
		return max(limit, r.Lines)
	}
	return min(limit, r.Lines)
}
