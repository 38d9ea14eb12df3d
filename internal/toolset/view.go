package toolset

import (
	"context"
	"encoding/json"
)

// View defines how clients that show views show the answers of a tool. Nothing else of the tool
// depends on it.
type View struct {
	// URI is that of the [Page] that the client opens next to an answer; "" if the page of another
	// tool shows the answer.
	URI string
	// Draw renders the structured half of an answer as HTML, with every foreign text escaped. It is
	// nil for a tool whose handler is [Drawn].
	Draw func(ctx context.Context, structured json.RawMessage) (string, error)
}

// Page is a self-contained document for clients.
type Page struct {
	// URI begins with ui://.
	URI         string
	Name        string
	Title       string
	Description string
	HTML        func() string
}

type drawingKey struct{}

// Drawing is the rendered form of an answer, which the handler of a tool provides.
type Drawing struct{ draw func() (string, error) }

// WithDrawing returns a context in which the handler of a tool stores the drawing of its output.
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

// Drawn returns a handler that stores the drawing of its output, for drawings that show more than
// the structured half.
func Drawn[In, Out any](run func(context.Context, In) (Out, error), draw func(Out) (string, error)) func(context.Context, In) (Out, error) {
	return func(ctx context.Context, in In) (Out, error) {
		out, err := run(ctx, in)
		if d, ok := ctx.Value(drawingKey{}).(*Drawing); ok && err == nil && draw != nil {
			d.draw = func() (string, error) { return draw(out) }
		}
		return out, err
	}
}
