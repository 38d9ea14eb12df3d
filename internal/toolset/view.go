package toolset

import (
	"context"
	"encoding/json"
)

// View is how clients that show views show the answers of a tool. Nothing else of the tool
// depends on it.
type View struct {
	// URI is that of the [Page] that the client opens beside an answer; "" where the page of
	// another tool shows the answer.
	URI string
	// Draw returns HTML of the structured half of an answer, with every foreign text escaped.
	// It is nil for a tool whose handler is [Drawn].
	Draw func(ctx context.Context, structured json.RawMessage) (string, error)
}

// Page is a document that a client shows, and that needs nothing else.
type Page struct {
	// URI begins with ui://.
	URI         string
	Name        string
	Title       string
	Description string
	HTML        func() string
}

type drawingKey struct{}

// Drawing is what an answer looks like, which the handler of a tool knows.
type Drawing struct{ draw func() (string, error) }

// WithDrawing returns a context in which the handler of a tool notes the drawing of its
// output.
func WithDrawing(ctx context.Context) (context.Context, *Drawing) {
	d := &Drawing{}
	return context.WithValue(ctx, drawingKey{}, d), d
}

// HTML returns the drawing, "" if there is none.
func (d *Drawing) HTML() (string, error) {
	if d.draw == nil {
		return "", nil
	}
	return d.draw()
}

// Drawn returns a handler that notes how its output is drawn, for drawings that show more than
// the structured half has.
func Drawn[In, Out any](run func(context.Context, In) (Out, error), draw func(Out) (string, error)) func(context.Context, In) (Out, error) {
	return func(ctx context.Context, in In) (Out, error) {
		out, err := run(ctx, in)
		if d, ok := ctx.Value(drawingKey{}).(*Drawing); ok && err == nil && draw != nil {
			d.draw = func() (string, error) { return draw(out) }
		}
		return out, err
	}
}
