package stdio

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// A request is the one that the library decodes, whatever its line looks like.
func FuzzDecodeRequest(f *testing.F) {
	for _, line := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":{"a":[1,{"b":"\u0041"}]}}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`, `{"method":"a","jsonrpc":"2.0","id":"x","params":null}`,
		`{"jsonrpc":"2.0","id":1e2,"method":"a"}`, `{"jsonrpc":"2.0","id":1.5,"method":"a"}`, `{"jsonrpc":"2.0","id":null,"method":"a"}`,
		`{"jsonrpc":"2.0","id":[1],"method":"a"}`, `{"jsonrpc":"2.0","id":9007199254740993,"method":"a"}`,
		`{"jsonrpc":"1.0","id":1,"method":"a"}`, `{"jsonrpc":"2.0","id":1,"Method":"a"}`, `{"jsonrpc":"2.0","id":1,"method":""}`,
		`{"jsonrpc":"2.0","id":1,"method":null}`, `{"jsonrpc":"2.0","id":1,"method":7}`, `{"jsonrpc":"2.0","id":1,"method":"a","method":"b"}`,
		`{"jsonrpc":"2.0","id":1,"method":"a","error":7}`, `{"jsonrpc":"2.0","id":1,"method":"a","error":null}`, `{"jsonrpc":"2.0","id":1,"result":{}}`,
		`{"jsonrpc":"2.0","id":1,"method":"a","params":` + strings.Repeat("[", 2000) + strings.Repeat("]", 2000) + `}`,
	} {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		if !json.Valid(line) || line[0] != '{' {
			return // decode does not get it
		}
		got := decodeRequest(line)
		if got == nil {
			return
		}
		want, err := jsonrpc.DecodeMessage(line)
		if diff := cmp.Diff(want, jsonrpc.Message(got), cmp.Comparer(func(a, b jsonrpc.ID) bool { return a == b })); err != nil || diff != "" {
			t.Errorf("%q: %v\n-library +decodeRequest:\n%s", line, err, diff)
		}
	})
}

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
