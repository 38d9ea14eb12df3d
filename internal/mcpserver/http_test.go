package mcpserver_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/copse-dev/copse/internal/mcpserver"
	"github.com/copse-dev/copse/internal/toolset"
)

// pipes is a network inside a test's bubble, whose clock stands still while anything runs.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { close(p.closed); return nil }
func (p *pipes) Addr() net.Addr { return &net.TCPAddr{} }

// site is a server over HTTP with what the test can see of it.
type site struct {
	t       *testing.T
	server  *mcpserver.Server
	handler *mcpserver.HTTP
	net     *pipes

	calling  atomic.Int32 // calls of the tool "hang" that run
	watching atomic.Int32 // watchers of toy://one that run
	changed  chan struct{}
}

// serve runs f in a bubble with a server.
func serve(t *testing.T, f func(s *site)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := &site{t: t, net: &pipes{conns: make(chan net.Conn), closed: make(chan struct{})}, changed: make(chan struct{})}
		set := toys(nil)
		for i := range set.Tools {
			if set.Tools[i].Name == "hang" {
				call := set.Tools[i].Call
				set.Tools[i].Call = func(ctx context.Context, _ json.RawMessage) toolset.Result {
					s.calling.Add(1)
					defer s.calling.Add(-1)
					<-ctx.Done()
					return call(ctx, json.RawMessage("7")) // refused at once
				}
			}
		}
		set.Resources[0].Watch = func(ctx context.Context, changed func()) error {
			s.watching.Add(1)
			defer s.watching.Add(-1)
			for {
				select {
				case <-ctx.Done():
					return nil
				case <-s.changed:
					changed()
				}
			}
		}
		s.server = mcpserver.New(mcpserver.Options{Name: "toy", Version: "1", Toolsets: []toolset.Toolset{set}, Logger: slog.New(slog.DiscardHandler)})
		s.handler = s.server.HTTP()
		web := &http.Server{Handler: s.handler}
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_ = web.Serve(s.net)
		}()
		f(s)
		s.handler.Close()
		_ = web.Close()
		<-ended
		synctest.Wait()
		if n := s.calling.Load() + s.watching.Load(); n != 0 {
			t.Errorf("%d calls and watchers outlive the server", n)
		}
	})
}

// conn is one connection of a client.
type conn struct {
	t *testing.T
	net.Conn
	in *bufio.Reader
}

func (s *site) dial() *conn {
	s.t.Helper()
	ours, theirs := net.Pipe()
	s.net.conns <- theirs
	c := &conn{s.t, ours, bufio.NewReader(ours)}
	s.t.Cleanup(func() { _ = ours.Close() })
	return c
}

// send sends a request and does not wait for the answer.
func (c *conn) send(method, path, body string, header ...string) {
	c.t.Helper()
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nContent-Length: %d\r\n", method, path, len(body))
	for _, h := range header {
		b.WriteString(h + "\r\n")
	}
	b.WriteString("\r\n" + body)
	if _, err := c.Write(b.Bytes()); err != nil {
		c.t.Fatal(err)
	}
}

// head reads the beginning of an answer.
func (c *conn) head() *http.Response {
	c.t.Helper()
	res, err := http.ReadResponse(c.in, nil)
	if err != nil {
		c.t.Fatal(err)
	}
	return res
}

// ask sends a request and returns the whole answer.
func (c *conn) ask(method, path, body string, header ...string) (*http.Response, string) {
	c.t.Helper()
	c.send(method, path, body, header...)
	res := c.head()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	_ = res.Body.Close()
	return res, string(data)
}

const hello = `{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"0"}}}`

// begin begins a session and returns its header.
func (s *site) begin() string {
	s.t.Helper()
	c := s.dial()
	defer c.Close()
	res, body := c.ask("POST", "/mcp", hello)
	id := res.Header.Get("Mcp-Session-Id")
	if id == "" {
		s.t.Fatalf("no session: %s %s", res.Status, body)
	}
	return "Mcp-Session-Id: " + id
}

// listen opens the stream on which a session hears of what happens.
func (s *site) listen(session string) *conn {
	s.t.Helper()
	c := s.dial()
	c.send("GET", "/mcp", "", session)
	if res := c.head(); res.StatusCode != http.StatusOK {
		s.t.Fatal(res.Status)
	}
	return c
}

// heard reports whether a stream brings news of toy://one before the next second.
func (c *conn) heard() bool {
	_ = c.SetReadDeadline(time.Now().Add(time.Second))
	for {
		line, err := c.in.ReadString('\n')
		if err != nil {
			return false
		}
		if strings.Contains(line, "notifications/resources/updated") {
			return true
		}
	}
}

// openSSE opens the stream of a session of 2024-11-05, and returns the address for its messages.
func (s *site) openSSE() (*conn, string) {
	s.t.Helper()
	c := s.dial()
	c.send("GET", "/sse", "")
	c.head()
	for {
		line, err := c.in.ReadString('\n')
		if err != nil {
			s.t.Fatal(err)
		}
		if at := strings.Index(line, "/sse?"); at >= 0 {
			return c, strings.TrimSpace(line[at:])
		}
	}
}

func (s *site) post(session, body string) string {
	s.t.Helper()
	c := s.dial()
	defer c.Close()
	res, answer := c.ask("POST", "/mcp", body, session)
	return res.Status + " " + answer
}

func about(method, uri string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":9,"method":%q,"params":{"uri":%q}}`, method, uri)
}

const (
	subscribe   = "resources/subscribe"
	unsubscribe = "resources/unsubscribe"
	one         = "toy://one"
)

// What runs for a client ends when the client is gone: at once where its connection is
// all there is of it, after the grace period where it could return.
func TestGoneClients(t *testing.T) {
	t.Parallel()
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
	hang := call("1", "hang", "{}")
	for name, tt := range map[string]struct {
		connect func(s *site) *conn
		grace   time.Duration
	}{
		"session": {func(s *site) *conn {
			session := s.begin()
			c := s.dial()
			c.send("POST", "/mcp", hang, session)
			return c
		}, mcpserver.GraceTime},
		"2026-07-28": {func(s *site) *conn {
			c := s.dial()
			c.send("POST", "/mcp", strings.Replace(hang, `"arguments":{}`, meta, 1), "Mcp-Protocol-Version: 2026-07-28", "Mcp-Method: tools/call", "Mcp-Name: hang")
			return c
		}, 0},
		"2024-11-05": {func(s *site) *conn {
			c, path := s.openSSE()
			go io.Copy(io.Discard, c.in)
			poster := s.dial()
			defer poster.Close()
			for _, body := range []string{hello, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, hang} {
				if res, answer := poster.ask("POST", path, body); res.StatusCode != http.StatusAccepted {
					s.t.Fatal(res.Status, answer)
				}
			}
			return c
		}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			serve(t, func(s *site) {
				c := tt.connect(s)
				synctest.Wait()
				if s.calling.Load() != 1 || s.handler.Clients() != 1 {
					t.Fatalf("%d calls of %d clients run", s.calling.Load(), s.handler.Clients())
				}
				time.Sleep(time.Hour) // a call may take as long as it likes while its client waits
				synctest.Wait()
				if s.calling.Load() != 1 || s.handler.Clients() != 1 {
					t.Fatal("a client that waits lost its call")
				}
				_ = c.Close()
				synctest.Wait()
				if tt.grace > 0 {
					time.Sleep(tt.grace - time.Second)
					synctest.Wait()
					if s.calling.Load() != 1 || s.handler.Clients() != 1 {
						t.Error("the client had no time to return")
					}
					time.Sleep(time.Second)
					synctest.Wait()
				}
				if s.calling.Load() != 0 || s.handler.Clients() != 0 {
					t.Errorf("%d calls of %d clients that are gone go on", s.calling.Load(), s.handler.Clients())
				}
				for range s.server.Library().Sessions() {
					t.Error("a session of a client that is gone is kept")
				}
			})
		})
	}
}

// A session has a limited number of requests under way, also if its client does not read the answers,
// and its client can always cancel one.
func TestRequestsUnderWay(t *testing.T) {
	t.Parallel()
	const note = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
	const cancel = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":0}}`
	hang := func(i int) string {
		return strings.Replace(call("1", "hang", "{}"), `"id":1`, fmt.Sprintf(`"id":%d`, i), 1)
	}
	refused := func(t *testing.T, res *http.Response, answer string) {
		t.Helper()
		if res.StatusCode != http.StatusTooManyRequests || !strings.Contains(answer, "has 64 requests under way") {
			t.Errorf("one more: %s %s", res.Status, answer)
		}
	}
	t.Run("2024-11-05", func(t *testing.T) {
		t.Parallel()
		serve(t, func(s *site) {
			c, path := s.openSSE()
			poster := s.dial()
			defer poster.Close()
			ask := func(body string) (*http.Response, string) {
				defer synctest.Wait()
				return poster.ask("POST", path, body)
			}
			ask(hello) // its answer waits for the client, which does not read its stream
			ask(note)
			for i := range mcpserver.MaxUnderWay - 1 {
				if res, answer := ask(call(fmt.Sprint(i), "echo", `{"text":"x"}`)); res.StatusCode != http.StatusAccepted {
					t.Fatal(i, res.Status, answer)
				}
			}
			res, answer := ask(hang(100))
			refused(t, res, answer)
			if res, answer := ask(cancel); res.StatusCode != http.StatusAccepted {
				t.Error(res.Status, answer)
			}
			go io.Copy(io.Discard, c.in)
			synctest.Wait()
			if res, answer := ask(hang(101)); res.StatusCode != http.StatusAccepted {
				t.Error("after it has read the answers:", res.Status, answer)
			}
		})
	})
	t.Run("session", func(t *testing.T) {
		t.Parallel()
		serve(t, func(s *site) {
			session := s.begin()
			s.listen(session)
			for i := range mcpserver.MaxUnderWay {
				c := s.dial()
				c.send("POST", "/mcp", hang(i), session)
				synctest.Wait()
				if i%2 == 1 {
					_ = c.Close() // the call continues
				}
			}
			synctest.Wait()
			if n := s.calling.Load(); n != mcpserver.MaxUnderWay {
				t.Fatalf("%d calls run", n)
			}
			c := s.dial()
			res, answer := c.ask("POST", "/mcp", hang(100), session)
			refused(t, res, answer)
			if got := s.post(session, cancel); !strings.HasPrefix(got, "202") {
				t.Error(got)
			}
			synctest.Wait()
			c.send("POST", "/mcp", hang(101), session)
			synctest.Wait()
			if n := s.calling.Load(); n != mcpserver.MaxUnderWay {
				t.Errorf("%d calls run after one was canceled", n)
			}
		})
	})
}

// A client whose stream is open has not gone because one of its requests was interrupted.
func TestBrokenRequest(t *testing.T) {
	t.Parallel()
	serve(t, func(s *site) {
		session := s.begin()
		stream := s.listen(session)
		c := s.dial()
		c.send("POST", "/mcp", call("1", "hang", "{}"), session)
		synctest.Wait()
		_ = c.Close()
		time.Sleep(2 * mcpserver.GraceTime)
		synctest.Wait()
		if s.calling.Load() != 1 {
			t.Error("the call of a client that is there was cancelled")
		}
		_ = stream.Close()
		time.Sleep(mcpserver.GraceTime)
		synctest.Wait()
		if s.calling.Load() != 0 {
			t.Error("the call goes on after its client")
		}
		if got := s.post(session, call("2", "echo", "{}")); !strings.Contains(got, "404") || !strings.Contains(got, "send initialize") {
			t.Errorf("a session that has ended: %s", got)
		}
	})
}

// A watcher runs while somebody is subscribed, and each session ends its own
// subscription alone.
func TestSubscriptions(t *testing.T) {
	t.Parallel()
	serve(t, func(s *site) {
		a, b, stranger := s.begin(), s.begin(), s.begin()
		streamA, streamB := s.listen(a), s.listen(b)
		s.listen(stranger)
		watched := func(want int32, when string) {
			t.Helper()
			synctest.Wait()
			if got := s.watching.Load(); got != want {
				t.Errorf("%s: %d watchers run", when, got)
			}
		}
		s.post(a, about(subscribe, one))
		s.post(a, about(subscribe, one)) // a second request does not subscribe twice
		s.post(b, about(subscribe, one))
		watched(1, "two sessions are subscribed")
		s.post(stranger, about(unsubscribe, one))
		s.post(stranger, about(unsubscribe, one))
		watched(1, "a session that is not subscribed ended its subscription")
		s.changed <- struct{}{}
		// The pipes hold nothing back, and the order of the news is not settled: both listen.
		var listening sync.WaitGroup
		for _, stream := range []*conn{streamA, streamB} {
			listening.Go(func() {
				if !stream.heard() {
					t.Error("a subscriber heard nothing")
				}
			})
		}
		listening.Wait()
		s.post(a, about(unsubscribe, one))
		watched(1, "one of two sessions ended its subscription")
		s.changed <- struct{}{}
		if !streamB.heard() || streamA.heard() {
			t.Error("the subscription of one session ended with another's")
		}
		// The end of a session ends its subscription: by its own word, and by its absence.
		c := s.dial()
		if res, _ := c.ask("DELETE", "/mcp", "", b); res.StatusCode != http.StatusNoContent {
			t.Error(res.Status)
		}
		watched(0, "the last subscriber's session ended")
		s.post(a, about(subscribe, one))
		watched(1, "subscribed again")
		_ = streamA.Close()
		time.Sleep(mcpserver.GraceTime)
		watched(0, "the last subscriber is gone")
	})
}

// Sessions are bounded. Silent clients make room; connected ones are not pushed out, and
// who comes too late is told why.
func TestHoardedSessions(t *testing.T) {
	t.Parallel()
	serve(t, func(s *site) {
		first := s.begin()
		time.Sleep(time.Second)
		for range mcpserver.MaxSessions + 100 {
			s.begin()
		}
		synctest.Wait()
		kept := 0
		for range s.server.Library().Sessions() {
			kept++
		}
		if kept > mcpserver.MaxSessions || s.handler.Clients() > mcpserver.MaxSessions {
			t.Errorf("%d sessions of %d clients are kept", kept, s.handler.Clients())
		}
		if got := s.post(first, call("1", "echo", "{}")); !strings.Contains(got, "404") {
			t.Errorf("the oldest session: %.100s", got)
		}
		for range mcpserver.MaxSessions {
			s.listen(s.begin())
		}
		res, body := s.dial().ask("POST", "/mcp", hello)
		if res.StatusCode != http.StatusServiceUnavailable || res.Header.Get("Retry-After") == "" || !strings.Contains(body, "Too many clients") {
			t.Errorf("one client too many: %s %s", res.Status, body)
		}
	})
}

// A client can say initialize as often as it likes: nothing is kept for each.
func TestInitializeAgain(t *testing.T) {
	t.Parallel()
	serve(t, func(s *site) {
		session := s.begin()
		for range 10 {
			s.post(session, hello)
		}
		if got := s.post(session, call("1", "echo", `{"text":"still here"}`)); !strings.Contains(got, "still here") {
			t.Errorf("got %s", got)
		}
		// None of these begins a session.
		for _, body := range []string{`{"jsonrpc":"2.0","id":1,"method":"ping"}`, call("1", "echo", "{}"), `{`, `[]`, ``} {
			_, _ = s.dial().ask("POST", "/mcp", body)
		}
		synctest.Wait()
		if n := s.handler.Clients(); n != 1 {
			t.Errorf("%d clients are connected", n)
		}
	})
}

// A batch counts as one request, and all its answers are kept: it must be short.
func TestBatchesAreShort(t *testing.T) {
	t.Parallel()
	const old = `{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"t","version":"0"}}}`
	serve(t, func(s *site) {
		res, _ := s.dial().ask("POST", "/mcp", old)
		session := "Mcp-Session-Id: " + res.Header.Get("Mcp-Session-Id")
		batch := func(n int) string {
			var calls []string
			for i := range n {
				calls = append(calls, call(fmt.Sprint(i+1), "echo", `{"text":"[,]"}`))
			}
			return " \n[" + strings.Join(calls, ",") + "]"
		}
		if got := s.post(session, batch(20)); !strings.HasPrefix(got, "200") || strings.Count(got, `"result"`) != 20 {
			t.Errorf("20 messages: %.200s", got)
		}
		for _, header := range []string{session, "Mcp-Protocol-Version: 2026-07-28"} {
			if got := s.post(header, batch(21)); !strings.HasPrefix(got, "413") || !strings.Contains(got, "at most 20 messages") || strings.Contains(got, `"result"`) {
				t.Errorf("21 messages with %s: %.200s", header, got)
			}
		}
		// Messages after the first damaged one are not run either.
		if got := s.post(session, "["+strings.Repeat("{}", 30)+"]"); strings.Contains(got, `"result"`) {
			t.Errorf("damaged: %.200s", got)
		}
	})
}

// A session keeps what its client sends with initialize: it must be small.
func TestSessionsAreSmall(t *testing.T) {
	t.Parallel()
	serve(t, func(s *site) {
		padded := strings.Replace(hello, `"clientInfo":{`, `"clientInfo":{"title":"`+strings.Repeat("t", 64<<10)+`",`, 1)
		if padded == hello {
			t.Fatal("hello has no clientInfo")
		}
		if res, body := s.dial().ask("POST", "/mcp", padded); res.StatusCode != http.StatusRequestEntityTooLarge || !strings.Contains(body, "at most 64 KiB") {
			t.Errorf("begin: %s %.200s", res.Status, body)
		}
		session := s.begin()
		for what, body := range map[string]string{
			"again":     padded,
			"subscribe": `{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"a:` + strings.Repeat("u", 64<<10) + `"}}`,
		} {
			if got := s.post(session, body); !strings.HasPrefix(got, "413") {
				t.Errorf("%s: %.200s", what, got)
			}
		}
		if got := s.post(session, call("1", "echo", `{"text":"`+strings.Repeat("t", 100<<10)+`"}`)); !strings.HasPrefix(got, "200") {
			t.Errorf("a large call: %.200s", got)
		}
		if res, body := s.dial().ask("POST", "/sse?sessionid=none", padded); res.StatusCode != http.StatusRequestEntityTooLarge {
			t.Errorf("/sse: %s %.200s", res.Status, body)
		}
	})
}

// The guard learns which sessions of /sse are open.
func TestHasSessionOfSSE(t *testing.T) {
	t.Parallel()
	serve(t, func(s *site) {
		c, address := s.openSSE()
		_, id, _ := strings.Cut(address, "sessionid=")
		if id == "" || !s.handler.HasSession(id) {
			t.Errorf("the session %q is not open", id)
		}
		_ = c.Close()
		synctest.Wait()
		if s.handler.HasSession(id) {
			t.Error("the session is still open")
		}
	})
}

// A session that the library ends no longer belongs to a client.
func TestLibraryEndsASession(t *testing.T) {
	t.Parallel()
	serve(t, func(s *site) {
		session := s.begin()
		id := strings.TrimPrefix(session, "Mcp-Session-Id: ")
		if !s.handler.HasSession(id) || s.handler.HasSession("none") || s.handler.HasSession("") {
			t.Error("the guard does not learn which sessions are open")
		}
		for each := range s.server.Library().Sessions() {
			_ = each.Close()
		}
		synctest.Wait()
		if got := s.post(session, call("1", "echo", "{}")); s.handler.Clients() != 0 || s.handler.HasSession(id) || !strings.Contains(got, "send initialize") {
			t.Errorf("%d clients; %s", s.handler.Clients(), got)
		}
	})
}

// A request whose ID the library would change is refused with its own ID, alone and in a batch.
func TestInexactID(t *testing.T) {
	t.Parallel()
	serve(t, func(s *site) {
		session := s.begin()
		ping := func(id string) string { return `{"jsonrpc":"2.0","id":` + id + `,"method":"ping"}` }
		for _, id := range []string{"1.5", "9007199254740993", "-9007199254740993", "1e30"} {
			for _, body := range []string{ping(id), "[" + ping("1") + "," + ping(id) + "]"} {
				if got := s.post(session, body); !strings.HasPrefix(got, "400") || !strings.Contains(got, `"id":`+id+`,"error":{"code":-32600`) {
					t.Errorf("%s: %s", body, got)
				}
			}
		}
		for _, id := range []string{"9007199254740991", "-7", "7.0", `"1.5"`} {
			if got := s.post(session, ping(id)); !strings.HasPrefix(got, "200") {
				t.Errorf("%s: %s", id, got)
			}
		}
	})
}

// Each of the newer era's headers makes a request one of that era: no session begins, and
// the answer says which header is missing.
func TestEraOfARequest(t *testing.T) {
	t.Parallel()
	serve(t, func(s *site) {
		for name, tt := range map[string]struct {
			headers []string
			modern  bool
		}{
			"version":        {[]string{"Mcp-Protocol-Version: 2026-07-28"}, true},
			"method":         {[]string{"Mcp-Method: initialize"}, true},
			"both":           {[]string{"Mcp-Protocol-Version: 2026-07-28", "Mcp-Method: initialize"}, true},
			"older version":  {[]string{"Mcp-Protocol-Version: 2025-11-25"}, false},
			"neither header": {nil, false},
		} {
			res, body := s.dial().ask("POST", "/mcp", hello, tt.headers...)
			if began := res.Header.Get("Mcp-Session-Id") != ""; began == tt.modern {
				t.Errorf("%s: a session began: %t; %s %s", name, began, res.Status, body)
			} else if strings.Contains(body, "is not supported by this server") {
				t.Errorf("%s: the era is refused: %s", name, body)
			}
		}
	})
}

// A client may keep a list that cannot change, and none that can.
func TestCacheHints(t *testing.T) {
	t.Parallel()
	fixed := toys(nil)
	changing := toolset.Toolset{Name: "changing", Offer: func(context.Context) *toolset.Offer { return nil }}
	for name, tt := range map[string]struct {
		sets []toolset.Toolset
		keep map[string]bool
	}{
		"fixed":    {[]toolset.Toolset{fixed}, map[string]bool{"tools/list": true, "prompts/list": true, "resources/list": true, "resources/templates/list": true}},
		"changing": {[]toolset.Toolset{fixed, changing}, map[string]bool{"tools/list": true, "prompts/list": false, "resources/list": false, "resources/templates/list": true}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := start(t, mcpserver.Options{Toolsets: tt.sets})
			for method, keep := range tt.keep {
				c.send(`{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`)
				got := c.line()
				if strings.Contains(got, `"ttlMs":300000`) != keep || !strings.Contains(got, `"cacheScope":"private"`) {
					t.Errorf("%s: %.200s", method, got)
				}
			}
		})
	}
}
