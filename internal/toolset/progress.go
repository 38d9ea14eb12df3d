package toolset

import "context"

type progressKey struct{}

// WithProgress returns a context with which a handler can report its progress. The server adds it
// to calls whose client requests progress.
func WithProgress(ctx context.Context, report func(message string)) context.Context {
	return context.WithValue(ctx, progressKey{}, report)
}

// Progress returns the function that reports progress, nil if nobody requests it.
func Progress(ctx context.Context) func(message string) {
	report, _ := ctx.Value(progressKey{}).(func(message string))
	return report
}

type clientKey struct{}

// WithClient returns a context with the caller: the name of an MCP client.
func WithClient(ctx context.Context, name string) context.Context {
	return context.WithValue(ctx, clientKey{}, name)
}

type sessionKey struct{}

// WithSession returns a context that distinguishes the callers of one server.
func WithSession(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, sessionKey{}, id)
}

// Session returns the session of the caller, "" if the server has one caller.
func Session(ctx context.Context) string {
	id, _ := ctx.Value(sessionKey{}).(string)
	return id
}

// Client returns the caller, "" if it is unknown.
func Client(ctx context.Context) string {
	name, _ := ctx.Value(clientKey{}).(string)
	return name
}
