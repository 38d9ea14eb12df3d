package sidebranch_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/copse-dev/copse/internal/git/gittest"
	"github.com/copse-dev/copse/internal/git/sidebranch"
)

// No process has the password in the address of a remote as an argument, and no helper of the user gets it.
func TestPasswordIsNoArgument(t *testing.T) {
	t.Parallel()
	g, clone, remote := repository(t)
	g.Env = g.Env.With("PATH=" + os.Getenv("PATH")) // a git for tests may be built without HTTP
	g.Run(clone, "push", "-q", remote, "HEAD:refs/heads/"+name)
	g.Run(remote, "update-server-info")
	stored := filepath.Join(gittest.Dir(t), "stored")
	g.Run(clone, "config", "--global", "credential.helper", "!cat >>'"+stored+"'; echo")
	const user, password = "ada@x", `pässword "$1" %s\`
	const encoded = "ada%40x:p%C3%A4ssword%20%22%241%22%20%25s%5c@"
	var right, wrong atomic.Int32
	files := http.FileServer(http.Dir(remote))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
		for _, line := range lines {
			if text, err := os.ReadFile(line); err == nil && (strings.Contains(string(text), "ssword \"") || strings.Contains(string(text), encoded)) {
				t.Errorf("an argument: %q", text)
			}
		}
		gotUser, gotPassword, ok := r.BasicAuth()
		if !ok || gotUser != user || gotPassword != password {
			if ok {
				wrong.Add(1)
			}
			w.Header().Set("WWW-Authenticate", `Basic realm="x"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		right.Add(1)
		files.ServeHTTP(w, r)
	}))
	defer server.Close()
	b := open(t, g, clone)
	with := func(login string) sidebranch.Remote {
		return sidebranch.Remote{Fetch: strings.Replace(server.URL, "//", "//"+login, 1)}
	}
	got, err := b.Fetch(t.Context(), with(encoded))
	if want := strings.TrimSpace(g.Run(clone, "rev-parse", "HEAD")); err != nil || string(got) != want {
		t.Errorf("fetched %q, %v", got, err)
	}
	fetches := right.Load()
	// There is nothing to send, so a server for reading suffices.
	if err := b.Push(t.Context(), with(encoded), got, ""); err != nil || right.Load() == fetches {
		t.Errorf("the push with %d requests: %v", right.Load()-fetches, err)
	}
	if wrong.Load() > 0 {
		t.Errorf("%d requests had another login", wrong.Load())
	}
	if _, err := b.Fetch(t.Context(), with("ada:other@")); err == nil {
		t.Error("fetched with another password")
	}
	if text, err := os.ReadFile(stored); err == nil {
		t.Errorf("a helper of the user got %q", text)
	}
	for _, login := range []string{"ada:a@b@", "ada:x%0ahost=evil@", "ada:x%zz@", `a:b\@`} {
		if _, err := b.Fetch(t.Context(), with(login)); err == nil || !strings.Contains(err.Error(), "unusual login") {
			t.Errorf("%s: %v", login, err)
		}
	}
}
