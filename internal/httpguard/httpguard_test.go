package httpguard_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/copse-dev/copse/internal/httpguard"
)

// serve starts a guarded server that says the body back.
func serve(t *testing.T, o httpguard.Options) string {
	t.Helper()
	if o.Now == nil {
		start := time.Now()
		o.Now = func() time.Time { return start }
	}
	echo := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusRequestEntityTooLarge)
			return
		}
		fmt.Fprintf(w, "inside %s", body)
	})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := httpguard.Server(httpguard.New(o, echo))
	go func() { _ = s.Serve(l) }()
	t.Cleanup(func() { _ = s.Close() })
	return l.Addr().String()
}

const token = "s3cret"

// send sends text as it is and returns status and body of the answer.
func send(t *testing.T, addr, text string) (int, string) {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(body)
}

func TestWhoGetsIn(t *testing.T) {
	t.Parallel()
	addr := serve(t, httpguard.Options{
		Token: func() string { return token }, Hosts: []string{"Dev.Example"}, Origins: []string{"http://localhost:5173"}, Open: []string{"/healthz"},
	})
	const auth = "Authorization: Bearer s3cret\r\n"
	for name, tt := range map[string]struct {
		line, headers string
		want          int
	}{
		"localhost":             {"GET / HTTP/1.1", "Host: localhost:3000\r\n" + auth, 200},
		"an IPv4 address":       {"GET / HTTP/1.1", "Host: 127.0.0.1\r\n" + auth, 200},
		"another of loopback":   {"GET / HTTP/1.1", "Host: 127.8.8.8:1\r\n" + auth, 200},
		"an IPv6 address":       {"GET / HTTP/1.1", "Host: [::1]:3000\r\n" + auth, 200},
		"an allowed host":       {"GET / HTTP/1.1", "Host: dev.example:3000\r\n" + auth, 200},
		"lower-case bearer":     {"GET / HTTP/1.1", "Host: localhost\r\nAuthorization: bearer s3cret\r\n", 200},
		"its own origin":        {"POST / HTTP/1.1", "Host: localhost:3000\r\nOrigin: http://localhost:3000\r\n" + auth, 200},
		"an allowed origin":     {"POST / HTTP/1.1", "Host: localhost:3000\r\nOrigin: http://localhost:5173\r\n" + auth, 200},
		"open without token":    {"GET /healthz HTTP/1.1", "Host: localhost\r\n", 200},
		"asked before by CORS":  {"OPTIONS / HTTP/1.1", "Host: localhost\r\nOrigin: http://localhost:5173\r\nAccess-Control-Request-Method: POST\r\n", 204},
		"rebound domain":        {"GET / HTTP/1.1", "Host: evil.example:3000\r\n" + auth, 403},
		"rebound, open route":   {"GET /healthz HTTP/1.1", "Host: evil.example:3000\r\n", 403},
		"looks like localhost":  {"GET / HTTP/1.1", "Host: localhost.evil.example\r\n" + auth, 403},
		"a dot after":           {"GET / HTTP/1.1", "Host: 127.0.0.1.evil.example\r\n" + auth, 403},
		"an address outside":    {"GET / HTTP/1.1", "Host: 192.168.1.5:3000\r\n" + auth, 403},
		"a name as the port":    {"GET / HTTP/1.1", "Host: 127.0.0.1:3000.evil.example\r\n" + auth, 403},
		"more than a host":      {"GET / HTTP/1.1", "Host: localhost:3000/x\r\n" + auth, 400},
		"a user of the host":    {"GET / HTTP/1.1", "Host: evil@localhost:3000\r\n" + auth, 400},
		"half a bracket":        {"GET / HTTP/1.1", "Host: [127.0.0.1\r\n" + auth, 403},
		"the server's options":  {"OPTIONS * HTTP/1.1", "Host: localhost\r\n", 401},
		"options of a stranger": {"OPTIONS * HTTP/1.1", "Host: evil.example\r\nOrigin: http://evil.example\r\n", 403},
		"options from a page":   {"OPTIONS * HTTP/1.1", "Host: localhost\r\nOrigin: http://evil.example\r\n", 403},
		"everything":            {"GET / HTTP/1.1", "Host: 0.0.0.0:3000\r\n" + auth, 403},
		"no host":               {"GET / HTTP/1.1", "Host: \r\n" + auth, 403},
		"host in the line":      {"GET http://evil.example/ HTTP/1.1", "Host: localhost\r\n" + auth, 403},
		"foreign GET":           {"GET / HTTP/1.1", "Host: localhost\r\nOrigin: https://evil.example\r\n" + auth, 403},
		"foreign POST":          {"POST / HTTP/1.1", "Host: localhost\r\nOrigin: https://evil.example\r\n" + auth, 403},
		"foreign DELETE":        {"DELETE / HTTP/1.1", "Host: localhost\r\nOrigin: https://evil.example\r\n" + auth, 403},
		"foreign OPTIONS":       {"OPTIONS / HTTP/1.1", "Host: localhost\r\nOrigin: https://evil.example\r\n" + auth, 403},
		"foreign, open route":   {"GET /healthz HTTP/1.1", "Host: localhost\r\nOrigin: https://evil.example\r\n", 403},
		"another port":          {"POST / HTTP/1.1", "Host: localhost:3000\r\nOrigin: http://localhost:8080\r\n" + auth, 403},
		"a file's page":         {"POST / HTTP/1.1", "Host: localhost\r\nOrigin: null\r\n" + auth, 403},
		"an empty origin":       {"POST / HTTP/1.1", "Host: localhost\r\nOrigin: \r\n" + auth, 403},
		"two origins":           {"POST / HTTP/1.1", "Host: localhost\r\nOrigin: http://localhost\r\nOrigin: https://evil.example\r\n" + auth, 403},
		"the same with TLS":     {"POST / HTTP/1.1", "Host: localhost:3000\r\nOrigin: https://localhost:3000\r\n" + auth, 403},
		"more than an origin":   {"POST / HTTP/1.1", "Host: localhost:3000\r\nOrigin: http://localhost:3000/\r\n" + auth, 403},
		"a user in the origin":  {"POST / HTTP/1.1", "Host: localhost:3000\r\nOrigin: http://evil@localhost:3000\r\n" + auth, 403},
		"no scheme at all":      {"POST / HTTP/1.1", "Host: localhost:3000\r\nOrigin: localhost:3000\r\n" + auth, 403},
		"capitals in both":      {"POST / HTTP/1.1", "Host: LocalHost:3000\r\nOrigin: http://localhost:3000\r\n" + auth, 200},
		"another scheme":        {"POST / HTTP/1.1", "Host: localhost\r\nOrigin: ftp://localhost\r\n" + auth, 403},
		"no token":              {"GET / HTTP/1.1", "Host: localhost\r\n", 401},
		"wrong token":           {"GET / HTTP/1.1", "Host: localhost\r\nAuthorization: Bearer s3creT\r\n", 401},
		"a part of it":          {"GET / HTTP/1.1", "Host: localhost\r\nAuthorization: Bearer s3cre\r\n", 401},
		"empty token":           {"GET / HTTP/1.1", "Host: localhost\r\nAuthorization: Bearer \r\n", 401},
		"no scheme":             {"GET / HTTP/1.1", "Host: localhost\r\nAuthorization: s3cret\r\n", 401},
		"another scheme's":      {"GET / HTTP/1.1", "Host: localhost\r\nAuthorization: Basic s3cret\r\n", 401},
		"two tokens":            {"GET / HTTP/1.1", "Host: localhost\r\nAuthorization: Bearer no\r\n" + auth, 401},
		"token in the URL":      {"GET /?token=s3cret&access_token=s3cret HTTP/1.1", "Host: localhost\r\n", 401},
		"below an open route":   {"GET /healthz/../mcp HTTP/1.1", "Host: localhost\r\n", 401},
		"two lengths":           {"POST / HTTP/1.1", "Host: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n" + auth, 400},
		"two hosts":             {"GET / HTTP/1.1", "Host: localhost\r\nHost: evil.example\r\n" + auth, 400},
		"a header that breaks":  {"GET / HTTP/1.1", "Host: localhost\r\nX: a\rAuthorization: Bearer s3cret\r\n", 400},
		"odd transfer encoding": {"POST / HTTP/1.1", "Host: localhost\r\nTransfer-Encoding: xchunked\r\n" + auth, 501},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			status, body := send(t, addr, tt.line+"\r\n"+tt.headers+"Connection: close\r\n\r\n")
			if status != tt.want {
				t.Errorf("got %d %s, want %d", status, body, tt.want)
			}
			if in := strings.Contains(body, "inside"); in != (status == 200) {
				t.Errorf("got in: %v, with %d", in, status)
			}
			if strings.Contains(body, token) {
				t.Errorf("the answer has the token: %s", body)
			}
		})
	}
}

// Of a request with both a length and chunks, one part could be taken for a
// second request.
func TestSmuggling(t *testing.T) {
	t.Parallel()
	addr := serve(t, httpguard.Options{Token: func() string { return token }})
	text := "POST / HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer s3cret\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n" +
		"0\r\n\r\nGET /second HTTP/1.1\r\nHost: evil.example\r\n\r\n"
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
	answers, err := io.ReadAll(conn)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(answers), "inside"); n > 1 {
		t.Errorf("%d requests got in: %s", n, answers)
	}
}

func TestBodies(t *testing.T) {
	t.Parallel()
	addr := serve(t, httpguard.Options{})
	post := func(body io.Reader) int {
		t.Helper()
		res, err := http.Post("http://"+addr, "application/json", body)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		return res.StatusCode
	}
	if got := post(strings.NewReader(strings.Repeat("x", httpguard.MaxBody))); got != 200 {
		t.Errorf("a body of the largest size gets %d", got)
	}
	if got := post(strings.NewReader(strings.Repeat("x", httpguard.MaxBody+1))); got != http.StatusRequestEntityTooLarge {
		t.Errorf("a larger body gets %d", got)
	}
	// Without a length, it is noticed while it is read.
	if got := post(io.LimitReader(endless{}, httpguard.MaxBody+1)); got != http.StatusRequestEntityTooLarge {
		t.Errorf("an endless body gets %d", got)
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

func TestRates(t *testing.T) {
	t.Parallel()
	now := time.Unix(0, 0)
	guarded := httpguard.New(httpguard.Options{Rate: 10, Now: func() time.Time { return now }},
		http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	connections := map[string]context.Context{}
	ask := func(from string) int {
		if connections[from] == nil {
			connections[from] = httpguard.Connected(t.Context(), nil)
		}
		r := httptest.NewRequestWithContext(connections[from], http.MethodGet, "http://localhost/", nil)
		w := httptest.NewRecorder()
		guarded.ServeHTTP(w, r)
		return w.Code
	}
	for i := range 20 {
		if got := ask("a"); got != 200 {
			t.Fatalf("request %d gets %d", i, got)
		}
	}
	if got := ask("a"); got != http.StatusTooManyRequests {
		t.Errorf("one too many gets %d", got)
	}
	if got := ask("b"); got != 200 {
		t.Errorf("another client gets %d", got)
	}
	now = now.Add(time.Second)
	if got := ask("a"); got != 200 {
		t.Errorf("a second later it gets %d", got)
	}
	for i := range 300 {
		if ask(fmt.Sprint("many ", i)); ask(fmt.Sprint("many ", i)) == http.StatusTooManyRequests {
			return
		}
	}
	t.Error("many clients together have no limit")
}

// Requests that need no token do not use up the rate of the clients that have it.
func TestStrangersHaveTheirOwnRate(t *testing.T) {
	t.Parallel()
	standing := func(r *http.Request) httpguard.Standing {
		switch r.Header.Get("Cookie") {
		case "known":
			return httpguard.Admitted
		case "own":
			return httpguard.Own
		}
		return httpguard.Stranger
	}
	for name, o := range map[string]httpguard.Options{
		"an open path":     {Token: func() string { return token }, Open: []string{"/open"}},
		"a login of pages": {Standing: standing},
	} {
		o.Rate, o.Now = 10, func() time.Time { return time.Unix(0, 0) }
		guarded := httpguard.New(o, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
		ask := func(from, path, cookie string) int {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost"+path, nil)
			r.RemoteAddr = from
			if cookie == "known" {
				r.Header.Set("Authorization", "Bearer "+token)
			}
			r.Header.Set("Cookie", cookie)
			w := httptest.NewRecorder()
			guarded.ServeHTTP(w, r)
			return w.Code
		}
		refused := 0
		for i := range 1000 {
			if ask(fmt.Sprint("stranger ", i), "/open", "") == http.StatusTooManyRequests {
				refused++
			}
		}
		if refused == 0 {
			t.Errorf("%s: strangers have no limit", name)
		}
		if got := ask("client", "/closed", "known"); got != http.StatusOK {
			t.Errorf("%s: a client gets %d", name, got)
		}
		// Nor do they keep this user from logging in, nor requests without a login a client.
		if got := ask("own", "/open", "own"); o.Standing != nil && got != http.StatusOK {
			t.Errorf("%s: a process of this user gets %d", name, got)
		}
		for i := range 1000 {
			ask(fmt.Sprint("own ", i), "/open", "own")
		}
		if got := ask("client", "/closed", "known"); got != http.StatusOK {
			t.Errorf("%s: after many requests without a login, a client gets %d", name, got)
		}
	}
}

// A GET request with a body is refused: its handler would not notice that the client is gone.
func TestBodyOfGet(t *testing.T) {
	t.Parallel()
	handler := httpguard.New(httpguard.Options{Now: time.Now}, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	for body, want := range map[string]int{"": http.StatusOK, "x": http.StatusBadRequest} {
		answer := httptest.NewRecorder()
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost/", strings.NewReader(body))
		handler.ServeHTTP(answer, r)
		if answer.Code != want {
			t.Errorf("body %q: got %d", body, answer.Code)
		}
	}
}

// sessions are a server's sessions.
type sessions map[string]bool

func (s sessions) HasSession(id string) bool                      { return s[id] }
func (sessions) ServeHTTP(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) }

// Whatever other clients send, a session has its share of requests, and so has a connection that has
// been open for a while. New connections, and sessions that a client invents, have none.
func TestShares(t *testing.T) {
	t.Parallel()
	now := time.Unix(0, 0)
	open := sessions{"ada": true}
	guarded := httpguard.New(httpguard.Options{Rate: 10, Now: func() time.Time { return now }}, open)
	ask := func(connection context.Context, session string) (int, string) {
		r := httptest.NewRequestWithContext(connection, http.MethodGet, "http://localhost/", nil)
		r.Header.Set("Mcp-Session-Id", session)
		w := httptest.NewRecorder()
		guarded.ServeHTTP(w, r)
		return w.Code, w.Body.String()
	}
	connect := func() context.Context { return httpguard.Connected(t.Context(), nil) }
	flood := func(session func(int) string) {
		refused := 0
		for i := range 20 {
			for at := connect(); ; {
				if got, _ := ask(at, session(i)); got != http.StatusOK {
					refused++
					break
				}
			}
		}
		if refused < 20 {
			t.Error("the others have no limit")
		}
	}
	old := connect()
	ask(old, "")
	nobody := func(int) string { return "" }
	flood(nobody)
	for n, want := range []int{http.StatusOK, http.StatusOK, http.StatusTooManyRequests} {
		if got, text := ask(connect(), "ada"); got != want || got != http.StatusOK && !strings.Contains(text, "All clients") {
			t.Errorf("request %d of a session: %d %s, want %d", n, got, text, want)
		}
	}
	if got, _ := ask(old, ""); got != http.StatusTooManyRequests {
		t.Error("a new connection has a share")
	}
	now = now.Add(time.Second)
	flood(func(i int) string { return fmt.Sprint("invented ", i) })
	for name, at := range map[string]context.Context{"ada": connect(), "": old} {
		if got, _ := ask(at, name); got != http.StatusOK {
			t.Errorf("a second later, session %q: %d", name, got)
		}
	}
	now = now.Add(time.Second)
	flood(nobody)
	for id, want := range map[string]int{"ada": http.StatusOK, "none": http.StatusTooManyRequests} {
		w := httptest.NewRecorder()
		guarded.ServeHTTP(w, httptest.NewRequestWithContext(connect(), http.MethodPost, "http://localhost/sse?sessionid="+id, nil))
		if w.Code != want {
			t.Errorf("session %q of /sse: %d, want %d", id, w.Code, want)
		}
	}
	delete(open, "ada")
	if got, _ := ask(connect(), "ada"); got != http.StatusTooManyRequests {
		t.Error("a session that has ended has a share")
	}
}

// The requests of a connection are counted before the guard looks whose it is, and that question has
// one answer while the connection is open.
func TestOneLook(t *testing.T) {
	t.Parallel()
	requests, looks := 0, 0
	guarded := httpguard.New(httpguard.Options{Rate: 10, Now: func() time.Time { return time.Unix(0, 0) }, Standing: func(r *http.Request) httpguard.Standing {
		requests++
		if httpguard.Once(r, func() (bool, error) {
			looks++
			if looks == 1 {
				return false, errors.New("no file descriptor")
			}
			return true, nil
		}) {
			return httpguard.Own
		}
		return httpguard.Stranger
	}}, http.NotFoundHandler())
	server := httptest.NewUnstartedServer(nil)
	server.Config = httpguard.Server(guarded)
	server.Start()
	defer server.Close()
	for range 30 {
		answer, err := server.Client().Get(server.URL)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, answer.Body)
		_ = answer.Body.Close()
	}
	if requests != 20 || looks != 2 { // the first look failed
		t.Errorf("asked for %d requests, and looked %d times", requests, looks)
	}
}
