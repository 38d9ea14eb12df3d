package presence_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/copse-dev/copse/internal/presence"
)

// child is the environment variable that makes this test's program a server.
const child = "PRESENCE_TEST_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(child); dir != "" {
		r := presence.NewRegister(dir, time.Now, func(error) {})
		r.Seen("child", "/work", "read_file")
		time.Sleep(time.Minute)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// eventually waits until the clients are those.
func eventually(t *testing.T, dir string, names ...string) {
	t.Helper()
	var got []string
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		got = nil
		clients, _ := presence.List(dir, time.Now())
		for _, c := range clients {
			got = append(got, c.Name+" "+c.Tool)
		}
		if cmp.Equal(names, got) {
			return
		}
	}
	t.Fatalf("the clients are %q, not %q", got, names)
}

// The entry of a server disappears with its process, however that ends.
func TestKilled(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "run", "presence")
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), child+"="+dir)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	eventually(t, dir, "child read_file")
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	eventually(t, dir)
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// A register names the last call of each client, and nothing once it is closed.
func TestRegister(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "run", "presence")
	now := time.Now()
	one, two := presence.NewRegister(dir, func() time.Time { return now }, func(error) {}), presence.NewRegister(dir, func() time.Time { return now.Add(-time.Minute) }, func(error) {})
	one.Seen("claude-code", "/a", "")
	two.Seen("codex", "/b", "execute")
	eventually(t, dir, "claude-code ", "codex execute")
	one.Seen("claude-code", "/a", "get_worktrees")
	eventually(t, dir, "claude-code get_worktrees", "codex execute")
	if got, err := presence.List(dir, now.Add(time.Hour)); len(got) > 0 || err != nil {
		t.Errorf("after an hour of silence: %v", got)
	}
	if err := one.Close(); err != nil {
		t.Error(err)
	}
	one.Seen("claude-code", "/a", "late")
	eventually(t, dir, "codex execute")
	if err := two.Close(); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// The file is never larger than readers accept, whatever clients call themselves.
func TestLongNames(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "run", "presence")
	now := time.Now()
	r := presence.NewRegister(dir, func() time.Time { return now }, func(error) {})
	for i := range 100 {
		worktree := "/" + strings.Repeat("w", 4000) + strconv.Itoa(i)
		r.Seen(strings.Repeat("n", 300_000), worktree, strings.Repeat("t", 300_000))
	}
	now = now.Add(time.Second)
	r.Seen("good", "/a", "claim_item")
	var clients []presence.Client
	for deadline := time.Now().Add(30 * time.Second); (len(clients) < 2 || clients[0].Name != "good") && time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		clients, _ = presence.List(dir, now)
	}
	if len(clients) < 2 || clients[0].Name != "good" || len(clients[1].Name) != 200 || len(clients[1].Tool) != 200 {
		t.Errorf("%d clients, without the one with the latest call, or with a long name", len(clients))
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}

// Many clients in one worktree do not hide the one in another.
func TestManyClients(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "run", "presence")
	now := time.Now()
	r := presence.NewRegister(dir, func() time.Time { return now }, func(error) {})
	r.Seen("good", "/linked", "claim_item")
	now = now.Add(time.Minute)
	for i := range 110 {
		r.Seen("client "+strconv.Itoa(i), "/main", "read_file")
	}
	var clients []presence.Client
	for deadline := time.Now().Add(30 * time.Second); len(clients) < 100 && time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		clients, _ = presence.List(dir, now)
	}
	if last := len(clients) - 1; last != 99 || clients[last].Name != "good" {
		t.Errorf("%d clients, without the only one of its worktree", len(clients))
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}

// What others could have written is neither believed nor added to.
func TestForeign(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("modes mean nothing here")
	}
	dir := filepath.Join(t.TempDir(), "run", "presence")
	r := presence.NewRegister(dir, time.Now, func(error) {})
	r.Seen("claude-code", "/a", "execute")
	eventually(t, dir, "claude-code execute")
	t.Cleanup(func() { _ = r.Close() })
	for name, text := range map[string]string{"x.json": `{}`, "abcdefghijklmnopqrstuvwxyz.json": `{"clients":[{"name":"forged","worktree":"/a","at":"2999-01-01T00:00:00Z"}]}`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("/dev/zero", filepath.Join(dir, "zbcdefghijklmnopqrstuvwxyz.lock")); err != nil {
		t.Fatal(err)
	}
	eventually(t, dir, "claude-code execute")
	// A user who can write to the parent directory can replace the directory.
	if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil { //nolint:gosec // that is the attack
		t.Fatal(err)
	}
	if got, err := presence.List(dir, time.Now()); len(got) > 0 || err == nil {
		t.Errorf("a directory that others can replace is believed: %v", got)
	}
	if err := os.Chmod(filepath.Dir(dir), 0o700); err != nil { //nolint:gosec // a directory
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o777); err != nil { //nolint:gosec // that is the attack
		t.Fatal(err)
	}
	if got, err := presence.List(dir, time.Now()); len(got) > 0 || err == nil {
		t.Errorf("a directory that others can enter is believed: %v", got)
	}
	other := filepath.Join(t.TempDir(), "run", "open")
	if err := os.Mkdir(filepath.Dir(other), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(other, 0o777); err != nil { //nolint:gosec // as above
		t.Fatal(err)
	}
	if err := os.Chmod(other, 0o777); err != nil { //nolint:gosec // as above
		t.Fatal(err)
	}
	stranger := presence.NewRegister(other, time.Now, func(error) {})
	stranger.Seen("claude-code", "/a", "execute")
	private := filepath.Join(t.TempDir(), "run", "control")
	control := presence.NewRegister(private, time.Now, func(error) {})
	t.Cleanup(func() { _ = errors.Join(stranger.Close(), control.Close()) })
	time.Sleep(time.Millisecond) // its timer ends after that of the other one
	control.Seen("claude-code", "/a", "execute")
	eventually(t, private, "claude-code execute")
	if left, err := os.ReadDir(other); err != nil || len(left) > 0 {
		t.Errorf("written where others can enter: %v, %v", left, err)
	}
}

// A server that cannot write its record works in a worktree all the same: that nobody is there is
// then unknown. The server says so once, and tries again.
func TestUnwritable(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "run", "presence")
	list := func() error {
		_, err := presence.List(dir, time.Now())
		return err
	}
	if err := list(); err != nil {
		t.Fatal("a new directory:", err)
	}
	// Nothing can replace this, as on a full or read-only file system.
	obstacle := filepath.Join(dir+".probe", "probe")
	for _, path := range []string{dir, filepath.Join(obstacle, "x")} {
		if err := os.MkdirAll(path, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := list(); err == nil {
		t.Error("nobody is there, says a directory in which no server can write")
	}
	if err := os.RemoveAll(obstacle); err != nil {
		t.Fatal(err)
	}
	r := presence.NewRegister(dir, time.Now, func(error) {})
	r.Seen("claude-code", "/a", "execute")
	eventually(t, dir, "claude-code execute")
	if err := list(); err != nil {
		t.Error("with a record:", err)
	}
	if err := os.Remove(filepath.Join(dir, r.ID()+".json")); err != nil {
		t.Fatal(err)
	}
	if err := list(); err == nil {
		t.Error("nobody is there, says the lock of a server without a record")
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if err := list(); err != nil {
		t.Error("after the server:", err)
	}
}

// A directory that cannot be made hides the servers, as one in which nobody can write does.
func TestUnmakable(t *testing.T) {
	t.Parallel()
	parent := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(parent, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := presence.List(filepath.Join(parent, "user", "copse", "presence"), time.Now()); err == nil {
		t.Error("nobody is there, says a directory that no server can make")
	}
}

// A system removes the directory at the user's last logout, and makes it again at the next login,
// while a server continues. The server is listed again, also without a call.
func TestRemoved(t *testing.T) {
	t.Parallel()
	run := filepath.Join(t.TempDir(), "run")
	dir := filepath.Join(run, "presence")
	r := presence.NewRegister(dir, time.Now, func(error) {})
	presence.RetryAfter(r, 10*time.Millisecond)
	r.Seen("claude-code", "/a", "execute")
	eventually(t, dir, "claude-code execute")
	for _, aside := range []string{run + "1", run + "2"} {
		if err := os.Rename(run, aside); err != nil {
			t.Fatal(err)
		}
		eventually(t, dir, "claude-code execute")
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// Reading the records does not change their directory: a page that watches it would read them again,
// indefinitely.
func TestListChangesNothing(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "run", "presence")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := presence.List(dir, time.Now()); err != nil {
		t.Fatal(err)
	}
	before := time.Now().Add(-time.Hour).Truncate(time.Second)
	if err := os.Chtimes(dir, before, before); err != nil {
		t.Fatal(err)
	}
	if _, err := presence.List(dir, time.Now()); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(dir); err != nil || !info.ModTime().Equal(before) {
		t.Errorf("the directory changed at %v, %v; want %v", info.ModTime(), err, before)
	}
}

// A server whose first write fails warns once, and writes its record later.
func TestRetry(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "run", "presence")
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	warned := make(chan error, 10)
	r := presence.NewRegister(dir, time.Now, func(err error) { warned <- err })
	presence.RetryAfter(r, time.Millisecond)
	r.Seen("claude-code", "/a", "execute")
	if err := <-warned; err == nil {
		t.Error("no reason")
	}
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	eventually(t, dir, "claude-code execute")
	if err := r.Close(); err != nil || len(warned) > 0 {
		t.Errorf("%d more warnings, %v", len(warned), err)
	}
}
