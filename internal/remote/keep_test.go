package remote_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/copse-dev/copse/internal/remote"
)

// The answer to a POST is kept when the client says so, under its address and body, for
// one identity, and is served from the cache alone.
func TestKeep(t *testing.T) {
	t.Parallel()
	sent := 0
	noStore := false
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		sent++
		w.Header().Set("Date", monday)
		if noStore {
			w.Header().Set("Cache-Control", "no-store")
		}
		io.Copy(w, r.Body)
	})
	dir := t.TempDir()
	transport := func(identity string) *remote.Transport {
		return remote.NewTransport(remote.Options{Allow: func(*http.Request) bool { return true }, CacheDir: dir, Identity: identity})
	}
	post := func(tr *remote.Transport, body string, cached, keep bool) (string, error) {
		t.Helper()
		ctx := t.Context()
		if cached {
			ctx = remote.WithCachedOnly(ctx)
		}
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer secret")
		resp, err := (&http.Client{Transport: tr}).Do(req)
		if err != nil {
			return "", err
		}
		defer resp.Body.Close()
		got, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		if keep {
			tr.Keep(resp, got)
		}
		if !cached {
			return string(got), nil
		}
		return string(got) + " as of " + remote.AsOf(resp).Weekday().String(), nil
	}
	missing := func(tr *remote.Transport, body string) {
		t.Helper()
		if got, err := post(tr, body, true, false); !errors.Is(err, remote.ErrNotCached) {
			t.Errorf("%q: got %q, %v, want ErrNotCached", body, got, err)
		}
	}
	ada, bob := transport("ada"), transport("bob")
	if _, err := post(ada, "not kept", false, false); err != nil {
		t.Fatal(err)
	}
	missing(ada, "not kept")
	for range 2 { // it is asked for each time
		if _, err := post(ada, "one", false, true); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := post(transport("ada"), "one", true, false); got != "one as of Monday" {
		t.Errorf("got %q, %v", got, err)
	}
	missing(ada, "two")
	missing(bob, "one")
	noStore = true
	if _, err := post(ada, "one", false, true); err != nil {
		t.Fatal(err)
	}
	missing(ada, "one")
	if sent != 4 {
		t.Errorf("%d requests were sent, want 4", sent)
	}
}
