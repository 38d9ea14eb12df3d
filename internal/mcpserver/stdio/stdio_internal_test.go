package stdio

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
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

// Ready is called before the first request that begins work, and not for those that only ask what
// the server has; at the latest after a while.
func TestReadyBeforeWork(t *testing.T) {
	t.Parallel()
	line := func(method string) string { return `{"jsonrpc":"2.0","id":1,"method":"` + method + `"}` + "\n" }
	for method, begins := range map[string]bool{
		"initialize": false, "notifications/initialized": false, "tools/list": false, "prompts/list": false,
		"tools/call": true, "prompts/get": true, "resources/read": true, "unknown": true,
	} {
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			called := make(chan time.Duration, 2)
			in, client := io.Pipe()
			transport := &Transport{In: in, Stop: t.Context().Done(), Logger: slog.New(slog.DiscardHandler), Ready: func() { called <- time.Since(start) }}
			conn, err := transport.Connect(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			go func() { _, _ = io.WriteString(client, line(method)) }()
			if _, err := conn.Read(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := len(called) > 0; got != begins {
				t.Errorf("%s: Ready was called: %v", method, got)
			}
			time.Sleep(2 * patience)
			if len(called) != 1 {
				t.Fatalf("%s: Ready was called %d times", method, len(called))
			}
			if took := <-called; !begins && took != patience {
				t.Errorf("%s: Ready was called after %v", method, took)
			}
			if err := errors.Join(conn.Close(), client.Close()); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// A connection that ends early does not call Ready later.
func TestReadyAfterEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		transport := &Transport{In: strings.NewReader(""), Stop: t.Context().Done(), Logger: slog.New(slog.DiscardHandler), Ready: func() { t.Error("Ready was called") }}
		conn, err := transport.Connect(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := conn.Close(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * patience)
	})
}

// A client that reads nothing is not read from for ever, and its connection ends.
func TestUnreadAnswers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		in, client := io.Pipe()
		unread, out := io.Pipe()
		defer unread.Close()
		transport := &Transport{In: in, Out: out, Stop: make(chan struct{}), Logger: slog.New(slog.DiscardHandler), Ended: make(chan struct{})}
		c, err := transport.Connect(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var written atomic.Int64
		go func() {
			for ; ; written.Add(1) {
				if _, err := fmt.Fprintf(client, `{"jsonrpc":"2.0","id":%d,"method":"ping"}`+"\n", written.Load()); err != nil {
					return
				}
			}
		}()
		go func() {
			for {
				msg, err := c.Read(t.Context())
				if err != nil {
					return
				}
				if req, ok := msg.(*jsonrpc.Request); ok {
					go func() { _ = c.Write(t.Context(), &jsonrpc.Response{ID: req.ID, Result: json.RawMessage(`{}`)}) }()
				}
			}
		}()
		start := time.Now()
		<-transport.Ended
		if took := time.Since(start); took < untakenTime || took > untakenTime+maxWait*maxUntaken {
			t.Errorf("the connection ended after %v", took)
		}
		const buffered = 2000 // in the reader
		if sent := written.Load(); sent < maxUntaken || sent > maxUntaken+buffered {
			t.Errorf("%d requests were read", sent)
		}
		_ = in.Close()
		_ = unread.Close()
	})
}
