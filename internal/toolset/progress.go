package toolset

import "context"

type progressKey struct{}

// WithProgress returns a context with which a handler can tell its caller how far it
// is. The server adds it to calls whose client wants to know.
func WithProgress(ctx context.Context, report func(message string)) context.Context {
	return context.WithValue(ctx, progressKey{}, report)
}

// Progress returns the function to tell the caller with, nil if nobody wants to know.
func Progress(ctx context.Context) func(message string) {
	report, _ := ctx.Value(progressKey{}).(func(message string))
	return report
}
