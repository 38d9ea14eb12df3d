package subscription

import (
	"context"
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/copse-dev/copse/internal/toolset"
)

// unread is the transport of a session whose client reads answers, and no notifications.
type unread struct{ mcp.Transport }

func (u unread) Connect(ctx context.Context) (mcp.Connection, error) {
	c, err := u.Transport.Connect(ctx)
	return unreadConn{c}, err
}

type unreadConn struct{ mcp.Connection }

func (c unreadConn) Write(ctx context.Context, msg jsonrpc.Message) error {
	if _, answer := msg.(*jsonrpc.Response); !answer {
		<-ctx.Done()
		return ctx.Err()
	}
	return c.Connection.Write(ctx, msg)
}

// A session that does not read its updates does not delay those of the others.
func TestUpdatesOfOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var server *mcp.Server
		changed := make(chan struct{})
		w := New(map[string]toolset.Resource{watched: {Watch: func(ctx context.Context, updated func()) error {
			for {
				select {
				case <-changed:
					updated()
				case <-ctx.Done():
					return nil
				}
			}
		}}}, func(uri string) {
			_ = server.ResourceUpdated(context.Background(), &mcp.ResourceUpdatedNotificationParams{URI: uri})
		}, slog.New(slog.DiscardHandler))
		server = mcp.NewServer(&mcp.Implementation{Name: "x", Version: "1"}, &mcp.ServerOptions{SubscribeHandler: w.Subscribe, UnsubscribeHandler: w.Unsubscribe})
		server.AddSendingMiddleware(w.Addressed)
		server.AddResource(&mcp.Resource{URI: watched, Name: "watched"}, nil)
		received := make(chan string, 10)
		// The library has no order of sessions, so each of several readers must be behind a slow one once.
		const readers, slow = 4, 4
		for i := range readers + slow {
			ours, theirs := mcp.NewInMemoryTransports()
			var transport mcp.Transport = ours
			if i >= readers {
				transport = unread{ours}
			}
			if _, err := server.Connect(t.Context(), transport, nil); err != nil {
				t.Fatal(err)
			}
			client := mcp.NewClient(&mcp.Implementation{Name: "y", Version: "1"}, &mcp.ClientOptions{
				ResourceUpdatedHandler: func(context.Context, *mcp.ResourceUpdatedNotificationRequest) { received <- watched },
			})
			session, err := client.Connect(t.Context(), theirs, &mcp.ClientSessionOptions{ProtocolVersion: "2025-06-18"})
			if err != nil {
				t.Fatal(err)
			}
			if err := session.Subscribe(t.Context(), &mcp.SubscribeParams{URI: watched}); err != nil {
				t.Fatal(err)
			}
			defer session.Close()
		}
		begin := time.Now()
		changed <- struct{}{}
		for range readers {
			<-received
		}
		if waited := time.Since(begin); waited > 0 {
			t.Errorf("the others waited for %v", waited)
		}
		w.Close()
	})
}

// An update that waits is sent once more, however often its resource changes.
func TestUpdatesJoin(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o, session := newOutbox(slog.New(slog.DiscardHandler)), &mcp.ServerSession{}
		var sent []string
		send := func(uri string) {
			o.add(session, update{uri, func(ctx context.Context) error {
				sent = append(sent, uri)
				time.Sleep(time.Second)
				return ctx.Err()
			}})
			synctest.Wait()
		}
		for _, uri := range []string{"a", "a", "b", "a", "b", "b"} {
			send(uri)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if want := []string{"a", "a", "b"}; !slices.Equal(sent, want) {
			t.Errorf("sent %v, not %v", sent, want)
		}
		send("c") // the session is not busy
		o.close()
		send("d")
		if want := []string{"a", "a", "b", "c"}; !slices.Equal(sent, want) {
			t.Errorf("sent %v, not %v", sent, want)
		}
	})
}

// A client that does not read, whose write nothing ends, does not keep a server from ending.
func TestUpdatesEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o, unread := newOutbox(slog.New(slog.DiscardHandler)), make(chan struct{})
		o.add(&mcp.ServerSession{}, update{"a", func(context.Context) error {
			<-unread
			return nil
		}})
		synctest.Wait() // it is being sent
		begin := time.Now()
		o.close()
		if waited := time.Since(begin); waited > time.Minute {
			t.Errorf("it waited for %v", waited)
		}
		close(unread)
	})
}
