package docker_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/copse-dev/copse/internal/docker"
	"github.com/copse-dev/copse/internal/secret"
	"github.com/copse-dev/copse/internal/test/need"
)

// at returns a client of the engine at host.
func at(host string) *docker.Client {
	return docker.New(docker.Options{GOOS: runtime.GOOS, Getenv: func(key string) string {
		return map[string]string{"DOCKER_HOST": host}[key]
	}})
}

// TestEngine asks a real engine, which .ci/engine has prepared.
func TestEngine(t *testing.T) {
	t.Parallel()
	host := os.Getenv("COPSE_TEST_ENGINE")
	if host == "" {
		need.Skip(t, "COPSE_TEST_ENGINE does not name a container engine; `.ci/engine start DIR` starts one")
	}
	c := at(host)
	list, err := c.Containers(t.Context(), "/srv/shop")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, one := range list {
		line := fmt.Sprintf("%s %s %s ours=%t ended=%t %s", one.Name, one.State, one.Health, one.Ours, !one.Ended.IsZero(), one.Problem())
		if one.Problem() != "" {
			logs, err := c.Logs(t.Context(), one.ID, 1)
			if err != nil {
				t.Error(err)
			}
			line += ": " + logs
		}
		got = append(got, line)
	}
	if diff := cmp.Diff([]string{
		"shop-db running unhealthy ours=true ended=false unhealthy: no space left",
		"shop-done exited  ours=true ended=false ",
		"shop-job exited  ours=true ended=true exited with 3: panic: no such table",
		"shop-web running healthy ours=true ended=false ",
		"else-where exited  ours=false ended=true exited with 1: other",
	}, got); diff != "" {
		t.Error(diff)
	}
	if elsewhere, err := c.Containers(t.Context(), "/srv/sho"); err != nil || elsewhere[0].Ours {
		t.Errorf("another project: %+v, %v", elsewhere, err)
	}
	if _, err := c.Logs(t.Context(), "nowhere", 1); err == nil {
		t.Error("there are logs of no container")
	}
}

// fake answers as engines do, at a socket.
func fake(t *testing.T, handler http.Handler) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "sock") //nolint:usetesting // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	path := filepath.Join(dir, "d.sock")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Skip("no unix sockets here")
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: time.Second}
	t.Cleanup(func() { _ = server.Close() })
	go func() { _ = server.Serve(l) }()
	return "unix://" + path
}

// Docker tells in the status what Podman does not.
func TestStatus(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	host := fake(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			t.Errorf("%s %s", r.Method, r.URL)
		}
		w.Header().Set("Api-Version", "1.45")
		w.Header().Set("Content-Type", "application/json")
		if !strings.HasSuffix(r.URL.Path, "/containers/json") {
			http.Error(w, `{"message":"gone"}`, http.StatusNotFound)
			return
		}
		_, _ = fmt.Fprintf(w, `[
			{"Id":"1234567890abcdef","State":"running","Status":"Up 2 minutes (unhealthy)"},
			{"Id":"b","Names":["/b\u001b[31m"],"Image":"i\u202e","State":"restarting","Status":"Restarting (137) 1 second ago"},
			{"Id":"c","Names":["/c"],"State":"exited","Status":"Exited (0) 1 second ago","Mounts":[{"Source":%q}]},
			{"Id":"d","Names":["/d"],"State":"exited","Status":"Exited (2) 1 second ago","Labels":{"devcontainer.local_folder":%q}},
			{"Id":"e","Names":["/e"],"State":"running","Status":"Up 3 hours (health: starting)","Labels":{"com.docker.compose.project.working_dir":%q}}
		]`, filepath.Join(root, "data"), root, root+"-more")
	}))
	list, err := at(host).Containers(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range list {
		got = append(got, fmt.Sprintf("%s|%s|%s|%s|%t", c.Name, c.Image, c.Health, c.Problem(), c.Ours))
	}
	if diff := cmp.Diff([]string{"c||||true", "d|||exited with 2|true", "1234567890ab||unhealthy|unhealthy|false", "b|i||restarting|false", "e||starting||false"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestNoEngine(t *testing.T) {
	t.Parallel()
	alone := docker.New(docker.Options{GOOS: "none", Home: t.TempDir(), Getenv: func(string) string { return "" }})
	if _, err := os.Stat("/var/run/docker.sock"); err != nil {
		if _, err := alone.Containers(t.Context(), "/x"); !errors.Is(err, docker.ErrNoEngine) {
			t.Errorf("got %v", err)
		}
	}
	for host, want := range map[string]string{
		"unix:///no/such.sock":            "the container engine at unix:///no/such.sock does not respond",
		"nonsense":                        "the container engine at nonsense cannot be used",
		"tcp://user:secret@127.0.0.1:1/x": "the container engine at tcp://127.0.0.1:1/x",
	} {
		_, err := at(host).Containers(t.Context(), "/x")
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", host, err)
		}
	}
	hanging := fake(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	begun := time.Now()
	if _, err := at(hanging).Containers(ctx, "/x"); !errors.Is(err, context.DeadlineExceeded) || time.Since(begun) > 3*time.Second {
		t.Errorf("after %s: %v", time.Since(begun), err)
	}
}

// An engine cannot fill the memory with small values.
func TestManyContainers(t *testing.T) {
	t.Parallel()
	host := fake(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "[{}"+strings.Repeat(",{}", 1<<20)+"]")
	}))
	if _, err := at(host).Containers(t.Context(), "/x"); err == nil || !strings.Contains(err.Error(), "more values than copse reads") {
		t.Error(err)
	}
}

// Where a log begins or ends with a part of a secret, it has the mark of a cut, so the rest is recognized.
func TestSecretAtTheEnds(t *testing.T) {
	t.Parallel()
	const token = "ghp_Zk9fjQ2mVx7LpT4wRb8sNc3hYd6gKa1eUo5J"
	known := secret.New(nil)
	known.Add(token)
	for log, want := range map[string]string{
		token[1:] + "\nend": "…[redacted]\nend", "begin " + token[:39]: "begin [redacted]…", token[20:] + " " + token[:20]: "…[redacted] [redacted]…",
		"one\n" + token + "\n": "one\n[redacted]", "plain": "plain",
	} {
		host := fake(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, "/json") {
				_, _ = io.WriteString(w, `{"Config":{"Tty":true}}`)
				return
			}
			_, _ = io.WriteString(w, log)
		}))
		text, err := at(host).Logs(secret.With(t.Context(), known), "a", 4)
		if got := known.Redact(text); err != nil || got != want {
			t.Errorf("%q became %q, %v; want %q", log, got, err, want)
		}
	}
}

// A container without a name has the beginning of its ID, which is clean.
func TestOddIDs(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("0123456789abcdef", 4)
	for id, want := range map[string]string{long: long[:12], "\x1b[31mred": "red", "words of a stranger": "words of a…"} {
		host := fake(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, "/containers/json") {
				_, _ = fmt.Fprintf(w, `[{"Id":%s,"State":"exited"}]`, strings.ReplaceAll(strconv.Quote(id), `\x1b`, `\u001b`))
				return
			}
			http.NotFound(w, r)
		}))
		list, err := at(host).Containers(t.Context(), "/x")
		if err != nil || len(list) != 1 || list[0].Name != want {
			t.Errorf("%q: %+v, %v; want %q", id, list, err, want)
		}
	}
}

// Logs come in frames, unless the container has a terminal.
func TestLogs(t *testing.T) {
	t.Parallel()
	frame := func(stream byte, text string) string {
		return string([]byte{stream, 0, 0, 0, 0, 0, 0, byte(len(text))}) + text
	}
	for name, tt := range map[string]struct{ tty, log, want string }{
		"frames":         {"false", frame(1, "one\n") + frame(2, "two\x1b[31m\n") + frame(1, "three\n"), "two\nthree"},
		"a cut frame":    {"false", frame(1, "one\n") + frame(2, "twenty")[:11], "one\ntwe"},
		"a cut header":   {"false", frame(1, "one\n") + "\x01\x00", "one"},
		"a huge length":  {"false", "\x01\x00\x00\x00\xff\xff\xff\xffone", "one"},
		"a terminal":     {"true", "one\ntwo\n", "one\ntwo"},
		"too long":       {"true", strings.Repeat("a", 70_000), strings.Repeat("a", 64<<10) + "…"},
		"nothing at all": {"false", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			host := fake(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				switch r.URL.Path {
				case "/containers/a b/json":
					_, _ = fmt.Fprintf(w, `{"Config":{"Tty":%s}}`, tt.tty)
				case "/containers/a b/logs":
					_, _ = fmt.Fprint(w, tt.log)
				default:
					http.Error(w, `{"message":"no such container"}`, http.StatusNotFound)
				}
			}))
			if got, err := at(host).Logs(t.Context(), "a b", 2); err != nil || got != tt.want {
				t.Errorf("got %q, %v; want %q", got, err, tt.want)
			}
			if _, err := at(host).Logs(t.Context(), "c", 2); err == nil || !strings.HasSuffix(err.Error(), `: "no such container"`) {
				t.Errorf("a container that does not exist: %v", err)
			}
		})
	}
}
