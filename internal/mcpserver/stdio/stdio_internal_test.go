package stdio

import (
	"testing"

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
