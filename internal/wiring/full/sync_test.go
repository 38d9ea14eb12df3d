package full_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/foreign"
	"github.com/copse-dev/copse/internal/git/gittest"
	"github.com/copse-dev/copse/internal/item/local"
	"github.com/copse-dev/copse/internal/item/storage"
	"github.com/copse-dev/copse/internal/toolset"
	"github.com/copse-dev/copse/internal/wiring"
	"github.com/copse-dev/copse/internal/wiring/full"
	"github.com/copse-dev/copse/internal/workflow/projectcontext"
	"github.com/copse-dev/copse/internal/workflow/projectcontext/wording"
)

// buffer is a log that can be read while it is written.
type buffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// eventually waits for what happens in the background.
func eventually(t *testing.T, what string, happened func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !happened(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not in 30 s: %s", what)
		}
	}
}

// toolOf returns a tool of a server.
func toolOf(t *testing.T, served *full.Served, name string) toolset.Tool {
	t.Helper()
	for _, set := range served.Toolsets {
		for _, tool := range set.Tools {
			if tool.Name == name {
				return tool
			}
		}
	}
	t.Fatalf("no tool %s", name)
	return toolset.Tool{}
}

// approve lets a server contact the remote of a store.
func approve(t *testing.T, ws *full.Workspace, store storage.Store) {
	t.Helper()
	remote, err := ws.Sync(store).Remote(t.Context(), "")
	if err == nil {
		err = ws.Sync(store).Approve(remote)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// A server of MCP clients syncs a shared store after each change, behind the answer, as
// the user's settings say. Doctor says what failed.
func TestServersSyncAfterChanges(t *testing.T) {
	t.Parallel()
	g := gittest.New(t)
	dir := gittest.Dir(t)
	remote, clone := filepath.Join(dir, "remote.git"), filepath.Join(dir, "clone")
	g.Run(dir, "init", "-q", "--bare", remote)
	g.Run(dir, "init", "-q", "--initial-branch=main", clone)
	g.Commit(clone, "begin")
	g.Run(clone, "remote", "add", "origin", remote)
	config := filepath.Join(dir, "config")
	settings := filepath.Join(config, "copse", "config.yml")
	write(t, settings, "items:\n  sync: manual\n")
	env := app.EmptyEnv()
	env.Dir, env.Environ = clone, g.Env.With("XDG_CONFIG_HOME="+config, "XDG_STATE_HOME="+filepath.Join(dir, "state"))

	var log buffer
	open := func() (*full.Workspace, *full.Served) {
		ws := full.Open(t.Context(), wiring.Options{Program: "copse", Env: env})
		return ws, ws.ServeItems(slog.New(slog.NewTextHandler(&log, nil)))
	}
	ws, served := open()
	store, ok := ws.Items().(*local.Store)
	if !ok {
		t.Fatal("the items are not in files")
	}
	t.Cleanup(func() { _ = store.Close() })
	if _, _, err := store.InitShared(t.Context()); err != nil {
		t.Fatal(err)
	}
	approve(t, ws, store)
	call := func(served *full.Served, name, arguments string) string {
		t.Helper()
		result := toolOf(t, served, name).Call(t.Context(), json.RawMessage(arguments))
		if result.IsError {
			t.Fatalf("%s: %s", name, result.Text)
		}
		return strings.Join(result.Text, "\n")
	}
	// An assistant learns of it where it reads the items.
	noted := func() bool {
		return strings.Contains(call(served, "list_items", `{}`), "were not synced at ")
	}
	published := func(text string) bool {
		out, err := g.Try(remote, "grep", "-q", text, "copse-items")
		return err == nil && out == ""
	}

	call(served, "create_item", `{"title":"By hand"}`)
	if err := served.Close(); err != nil {
		t.Fatal(err)
	}
	if published("By hand") {
		t.Fatal("a change is synced that is to be synced by hand")
	}

	write(t, settings, "items:\n  sync: after-change\n")
	_, served = open()
	t.Cleanup(func() { _ = served.Close() })
	call(served, "create_item", `{"title":"At once"}`)
	eventually(t, "a new item is published", func() bool { return published("At once") })
	call(served, "add_comment", `{"id":2,"text":"a remark"}`)
	eventually(t, "a comment is published", func() bool { return published("a remark") })

	away := remote + ".away"
	if err := os.Rename(remote, away); err != nil {
		t.Fatal(err)
	}
	call(served, "update_item", `{"id":2,"priority":"high"}`)
	failed := func() bool {
		found, err := store.Check(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return len(found) == 1 && strings.Contains(found[0].Reason, "were not synced at ")
	}
	eventually(t, "doctor says that the remote is away", failed)
	if !noted() {
		t.Error("list_items does not say that the remote is away")
	}
	if text := contextOf(t, ws, store); !strings.Contains(text, "were not synced at ") {
		t.Errorf("the context does not say that the remote is away:\n%s", text)
	}
	eventually(t, "the log says so", func() bool { return strings.Contains(log.String(), "cannot reach the remote") })
	if err := os.Rename(away, remote); err != nil {
		t.Fatal(err)
	}
	call(served, "update_item", `{"id":2,"priority":"low"}`)
	eventually(t, "the change is published", func() bool { return published("priority: low") })
	eventually(t, "doctor has nothing to say", func() bool { return !failed() })
	if noted() {
		t.Error("list_items says that the remote is still away")
	}
}

// contextOf returns the context of a project as Markdown.
func contextOf(t *testing.T, ws *full.Workspace, store storage.Store) string {
	t.Helper()
	tasks := ws.Tasks()
	defer tasks.Close()
	found, err := ws.Context(store, tasks, ws.Files()).Gather(t.Context(), projectcontext.Request{Tokens: 2000})
	if err != nil {
		t.Fatal(err)
	}
	return wording.Markdown(found, 2000, foreign.Line{})
}

// A server in each of two clones claims the same item of a shared store: the first to push has
// it. The calls of its holder renew the claim in both clones, behind the answers, and it ends in
// both when the holder is silent for a lease.
func TestServersOfClonesClaim(t *testing.T) {
	t.Parallel()
	g := gittest.New(t)
	dir := gittest.Dir(t)
	remote := filepath.Join(dir, "remote.git")
	g.Run(dir, "init", "-q", "--bare", remote)
	var clock atomic.Int64
	clock.Store(time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC).UnixMilli())
	pass := func(d time.Duration) { clock.Add(d.Milliseconds()) }
	open := func(name string) func(tool, arguments string) (text string, failed bool) {
		clone := filepath.Join(dir, name)
		g.Run(dir, "init", "-q", "--initial-branch=main", clone)
		g.Commit(clone, "begin")
		g.Run(clone, "remote", "add", "origin", remote)
		env := app.EmptyEnv()
		env.Dir, env.Environ, env.Hostname = clone, g.Env.With("XDG_CONFIG_HOME="+filepath.Join(dir, "config"), "XDG_STATE_HOME="+filepath.Join(dir, "state")), name
		env.Now = func() time.Time { return time.UnixMilli(clock.Load()) }
		ws := full.Open(t.Context(), wiring.Options{Program: "copse", Env: env})
		store, ok := ws.Items().(*local.Store)
		if !ok {
			t.Fatal("the items are not in files")
		}
		t.Cleanup(func() { _ = store.Close() })
		if _, _, err := store.InitShared(t.Context()); err != nil {
			t.Fatal(err)
		}
		approve(t, ws, store)
		served := ws.ServeItems(slog.New(slog.DiscardHandler))
		t.Cleanup(func() { _ = served.Close() })
		return func(name, arguments string) (string, bool) {
			t.Helper()
			result := toolOf(t, served, name).Call(t.Context(), json.RawMessage(arguments))
			return strings.Join(result.Text, "\n"), result.IsError
		}
	}
	one, other := open("one"), open("other")
	must := func(text string, failed bool) {
		t.Helper()
		if failed {
			t.Fatal(text)
		}
	}
	held := func(text string, failed bool) {
		t.Helper()
		if !failed || !strings.Contains(text, "is claimed by") || !strings.Contains(text, "on one") {
			t.Fatalf("the item is not held by the first clone: %s", text)
		}
	}
	must(one("create_item", `{"title":"Both want it"}`))
	must(one("claim_item", `{"id":1,"lease_minutes":10}`))
	pass(time.Second)
	must(other("create_item", `{"title":"Brings the store here"}`))
	must(other("claim_item", `{}`)) // which exchanges the stores
	held(other("claim_item", `{"id":1}`))
	held(other("update_item", `{"id":1,"status":"done"}`))

	for range 2 {
		pass(9 * time.Minute)
		must(one("list_items", `{}`))
		renewed := `"renewed":"` + time.UnixMilli(clock.Load()).UTC().Format(time.RFC3339)
		eventually(t, "the renewal is published", func() bool {
			out, err := g.Try(remote, "grep", "-q", "-F", renewed, "copse-items")
			return err == nil && out == ""
		})
		held(other("claim_item", `{"id":1}`))
	}
	pass(11 * time.Minute)
	must(other("claim_item", `{"id":1}`))
}
