package servers_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/copse-dev/copse/internal/git/gittest"
	"github.com/copse-dev/copse/internal/httpguard"
)

// guarded serves a repository as copse up does, and returns the port.
func guarded(t *testing.T, o httpguard.Options) int {
	t.Helper()
	g := gittest.New(t)
	dir := g.Init()
	o.Token, o.Open = func() string { return token }, []string{"/healthz"}
	s := fleet(t, g, "", freePort(t), o)
	join(t, s, dir)
	return s.Status()[0].MCP.Port
}

// raw sends bytes and returns the first line of the answer, or what went wrong.
func raw(t *testing.T, port int, request string) string {
	t.Helper()
	conn, err := net.Dial("tcp", "127.0.0.1:"+strconv.Itoa(port))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(5 * time.Second)); err != nil {
		t.Fatal(err)
	}
	_, _ = io.WriteString(conn, request) // the server may hang up in the middle
	line, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil {
		return err.Error()
	}
	return strings.TrimSpace(line)
}

// Who does not belong here gets in by no route and no method.
func TestStrangers(t *testing.T) {
	t.Parallel()
	port := guarded(t, httpguard.Options{Origins: []string{"http://localhost:5173"}})
	own := "localhost:" + strconv.Itoa(port)
	const right = "Bearer " + token
	for _, route := range []string{"/mcp", "/sse", "/healthz", "/", "/nowhere", "*"} {
		for _, method := range []string{"GET", "POST", "DELETE", "OPTIONS", "PUT", "HEAD", "PATCH"} {
			for what, tt := range map[string]struct {
				host, origin, auth string
				want               string
			}{
				"rebound name":        {"evil.example:" + strconv.Itoa(port), "", right, "403"},
				"name as the port":    {own + ".evil.example", "", right, "403"},
				"name that begins so": {"localhost.evil.example", "", right, "403"},
				"other address":       {"10.0.0.1", "", right, "403"},
				"foreign origin":      {own, "http://evil.example", right, "403"},
				"null origin":         {own, "null", right, "403"},
				"other port's origin": {own, "http://localhost:1", right, "403"},
				"origin with TLS":     {own, "https://" + own, right, "403"},
				"no token":            {own, "", "", "401"},
				"wrong token":         {own, "", "Bearer " + token + "x", "401"},
				"wrong scheme":        {own, "", "Basic " + token, "401"},
				"empty token":         {own, "", "Bearer ", "401"},
				"allowed origin only": {own, "http://localhost:5173", "", "401"},
			} {
				if tt.want == "401" && (route == "/healthz" || method == "OPTIONS" && tt.origin != "") {
					continue // it says nothing, and a preflight carries no token
				}
				header := "Host: " + tt.host + "\r\nContent-Length: 2\r\nConnection: close\r\n"
				if tt.origin != "" {
					header += "Origin: " + tt.origin + "\r\n"
				}
				if tt.auth != "" {
					header += "Authorization: " + tt.auth + "\r\n"
				}
				if got := raw(t, port, method+" "+route+" HTTP/1.1\r\n"+header+"\r\n{}"); !strings.HasPrefix(got, "HTTP/1.1 "+tt.want) {
					t.Errorf("%s %s with %s: %s", method, route, what, got)
				}
			}
		}
	}
	res, err := http.Get("http://" + own + "/healthz")
	if err != nil || res.StatusCode != http.StatusOK || res.Header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("healthz: %v, %v", res, err)
	}
	if err == nil {
		_ = res.Body.Close()
	}
}

// Requests that two readers could understand in two ways are refused.
func TestSmuggling(t *testing.T) {
	t.Parallel()
	port := guarded(t, httpguard.Options{})
	head := "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + token + "\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"
	inner := "GET /mcp HTTP/1.1\r\nHost: localhost\r\n\r\n"
	for what, request := range map[string]string{
		"two lengths":                     head + "Content-Length: 2\r\nContent-Length: 40\r\n\r\n{}" + inner,
		"length and chunks":               head + "Content-Length: 40\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + inner,
		"odd chunking":                    head + "Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
		"space before the colon":          head + "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
		"two hosts":                       "POST /mcp HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\nContent-Length: 0\r\n\r\n",
		"no host":                         "POST /mcp HTTP/1.1\r\nContent-Length: 0\r\n\r\n",
		"a whole URL":                     "GET http://evil.example/healthz HTTP/1.1\r\nHost: localhost\r\n\r\n",
		"two tokens":                      "GET /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer x\r\nAuthorization: Bearer " + token + "\r\n\r\n",
		"a line break in the origin":      "GET /healthz HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost\n evil\r\n\r\n",
		"a header of a hundred kilobytes": "GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: " + strings.Repeat("x", 100<<10) + "\r\n\r\n",
		"no HTTP at all":                  "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
	} {
		if got := raw(t, port, request); strings.HasPrefix(got, "HTTP/1.1 2") {
			t.Errorf("%s: %s", what, got)
		}
	}
}

// Bodies that are too large, or never end, cost nothing.
func TestBodies(t *testing.T) {
	t.Parallel()
	port := guarded(t, httpguard.Options{})
	head := "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + token + "\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"
	if got := raw(t, port, head+"Content-Length: 999999999999\r\n\r\n{"); !strings.Contains(got, " 413 ") {
		t.Errorf("a body of a terabyte: %s", got)
	}
	conn, err := net.Dial("tcp", "127.0.0.1:"+strconv.Itoa(port))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_, err = io.WriteString(conn, head+"Transfer-Encoding: chunked\r\n\r\n")
	sent := 0
	for chunk := fmt.Sprintf("%x\r\n%s\r\n", 64<<10, strings.Repeat(" ", 64<<10)); err == nil && sent < 64<<20; sent += 64 << 10 {
		_ = conn.SetWriteDeadline(time.Now().Add(5 * time.Second))
		_, err = io.WriteString(conn, chunk)
	}
	if err == nil {
		t.Errorf("%d bytes of an endless body were taken", sent)
	}
}

// Slow clients hold up no others, and do not stay for ever.
func TestSlowClients(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it waits for a time limit")
	}
	port := guarded(t, httpguard.Options{})
	var slow []net.Conn
	for range 200 {
		conn, err := net.Dial("tcp", "127.0.0.1:"+strconv.Itoa(port))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		_, _ = io.WriteString(conn, "GET /mcp HTTP/1.1\r\nHost: loc")
		slow = append(slow, conn)
	}
	begun := time.Now()
	if got := modern(t, port).call(t.Context(), 1, "get_current_branch", "{}"); !strings.Contains(got, `"branch"`) || time.Since(begun) > 3*time.Second {
		t.Errorf("after %s: %s", time.Since(begun), got)
	}
	for _, conn := range slow {
		_ = conn.SetReadDeadline(time.Now().Add(15 * time.Second))
		if _, err := io.ReadAll(conn); err != nil {
			t.Fatalf("a connection that says nothing is kept: %v", err)
		}
	}
}

// A client that asks too often is told so, and others are not.
func TestRate(t *testing.T) {
	t.Parallel()
	port := guarded(t, httpguard.Options{Rate: 5})
	c := modern(t, port)
	limited := ""
	for i := range 40 {
		if got := c.call(t.Context(), i, "get_current_branch", "{}"); strings.Contains(got, "429") {
			limited = got
			break
		}
	}
	if !strings.Contains(limited, "Too many requests") {
		t.Errorf("got %q", limited)
	}
	if got := modern(t, port).call(t.Context(), 1, "get_current_branch", "{}"); !strings.Contains(got, `"branch"`) {
		t.Errorf("another client: %s", got)
	}
}
