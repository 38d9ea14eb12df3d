package subscription

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/copse-dev/copse/internal/httpsession"
	"github.com/copse-dev/copse/internal/toolset"
)

const watched = "x://watched"

// site is a server with one resource and one connected session.
type site struct {
	*Watchers
	session *mcp.ServerSession
	started int
}

// connect must be called in a bubble of synctest.
func connect(t *testing.T) *site {
	t.Helper()
	s := &site{}
	s.Watchers = New(map[string]toolset.Resource{watched: {Watch: func(ctx context.Context, _ func()) error {
		s.started++
		<-ctx.Done()
		return nil
	}}}, func(string) {}, slog.New(slog.DiscardHandler))
	ours, theirs := mcp.NewInMemoryTransports()
	var err error
	if s.session, err = mcp.NewServer(&mcp.Implementation{Name: "x", Version: "1"}, nil).Connect(t.Context(), ours, nil); err != nil {
		t.Fatal(err)
	}
	client, err := mcp.NewClient(&mcp.Implementation{Name: "y", Version: "1"}, nil).Connect(t.Context(), theirs, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() }) // the server ends, too
	return s
}

func (s *site) subscribe(ctx context.Context, t *testing.T) {
	t.Helper()
	if err := s.Subscribe(ctx, &mcp.SubscribeRequest{Session: s.session, Params: &mcp.SubscribeParams{URI: watched}}); err != nil {
		t.Fatal(err)
	}
	synctest.Wait()
}

// A second subscription of a session is the first one: one request ends it, and nothing is left that
// counts as the client's work.
func TestSecondSubscription(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const grace = time.Minute
		one, err := httpsession.New(httpsession.Options{Max: 1, Grace: grace, Idle: time.Hour}).Begin()
		if err != nil {
			t.Fatal(err)
		}
		defer one.End()
		one.Name("one")
		s, ctx := connect(t), WithClient(t.Context(), one)
		s.subscribe(ctx, t)
		s.subscribe(ctx, t)
		if s.started != 1 {
			t.Errorf("%d watchers", s.started)
		}
		if err := s.Unsubscribe(ctx, &mcp.UnsubscribeRequest{Session: s.session, Params: &mcp.UnsubscribeParams{URI: watched}}); err != nil {
			t.Fatal(err)
		}
		one.Leave()
		time.Sleep(2 * grace)
		synctest.Wait()
		if one.Context().Err() != nil {
			t.Error("a client without a subscription counts as one with work")
		}
		s.Close()
	})
}

// Nothing is watched after the end, and a subscription is not an error then.
func TestSubscriptionAfterClose(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := connect(t)
		s.Close()
		s.subscribe(t.Context(), t)
		if s.started != 0 {
			t.Error("a watcher runs")
		}
		for _, one := range s.running { // which would keep the bubble from ending
			one.cancel()
		}
	})
}
