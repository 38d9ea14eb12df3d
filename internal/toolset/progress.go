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

type clientKey struct{}

// WithClient returns a context that says who calls: the name of an MCP client.
func WithClient(ctx context.Context, name string) context.Context {
	return context.WithValue(ctx, clientKey{}, name)
}

type sessionKey struct{}

// WithSession returns a context that tells the callers of one server apart.
func WithSession(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, sessionKey{}, id)
}

// Session returns the session of the caller, "" if the server has one caller.
func Session(ctx context.Context) string {
	id, _ := ctx.Value(sessionKey{}).(string)
	return id
}

// Client returns who calls, "" if that is not known.
func Client(ctx context.Context) string {
	name, _ := ctx.Value(clientKey{}).(string)
	return name
}
