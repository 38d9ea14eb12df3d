package stdio

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// Each request counts as running until it is answered; other messages do not count.
func TestRunningRequestsAreCounted(t *testing.T) {
	t.Parallel()
	c := &stdioConn{open: map[jsonrpc.ID]replySlot{}, room: make(chan struct{}, 1)}
	var ids []jsonrpc.ID
	for n := range maxRunning {
		id, err := jsonrpc.MakeID(float64(n))
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
		for _, msg := range []*jsonrpc.Request{{ID: id, Method: "tools/call"}, {Method: "notifications/cancelled"}} {
			if err := c.opened(msg, nil); err != nil {
				t.Fatal(err)
			}
			c.awaitRoom(msg)
		}
	}
	if c.running != maxRunning || len(c.room) > 0 {
		t.Errorf("%d are running", c.running)
	}
	for _, id := range ids {
		c.answered(id, nil)
		c.answered(id, nil) // a second answer makes no difference
	}
	if c.running != 0 || len(c.room) != 1 {
		t.Errorf("%d are running after all answers", c.running)
	}
}

// While very many requests run, the next one waits for some of them, but not for long.
func TestRequestsWaitForRoom(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := &stdioConn{open: map[jsonrpc.ID]replySlot{}, room: make(chan struct{}, 1)}
		var ids []jsonrpc.ID
		waits := func() time.Duration {
			id, err := jsonrpc.MakeID(float64(len(ids)))
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, id)
			msg := &jsonrpc.Request{ID: id, Method: "tools/call"}
			if err := c.opened(msg, nil); err != nil {
				t.Fatal(err)
			}
			begun := time.Now()
			c.awaitRoom(msg)
			return time.Since(begun)
		}
		for range maxRunning {
			if took := waits(); took != 0 {
				t.Errorf("request %d waits %v", len(ids), took)
			}
		}
		if took := waits(); took != maxWait {
			t.Errorf("without room, a request waits %v", took)
		}
		answered := slices.Clone(ids[:maxRunning/2+2])
		time.AfterFunc(maxWait/2, func() {
			for _, id := range answered {
				c.answered(id, nil)
			}
		})
		if took := waits(); took != maxWait/2 {
			t.Errorf("a request waits %v for room", took)
		}
	})
}
