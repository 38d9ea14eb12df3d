package copse_test

import (
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/copse-dev/copse/internal/test/built"
	"github.com/copse-dev/copse/internal/test/need"
	"github.com/copse-dev/copse/internal/test/otheruser"
	"github.com/copse-dev/copse/internal/xec"
)

// usersFiles are the kinds of files that copse writes for a user outside of repositories. Caches that need a service
// or a large store are beside the one of conflicts. With sudo, those
// with a token stay root's.
var usersFiles = []struct {
	pattern string // of path.Match, below the home directory
	token   bool
}{
	{".cursor/mcp.json", true},
	{".config/copse/tokens/*.token", true},
	{".config/copse/tokens/.*.lock", false},
	{".cache/copse/conflicts/*.json", false},
	{".local/share/twig/registry.json", false},
	{".local/share/twig/.registry.json.lock", false},
	{".local/state/copse/context/*.json", false},
	{".local/state/copse/hooks/*", false},
	{".local/state/copse/servers/ports.json", false},
	{".local/state/copse/servers/.ports.json.lock", false},
	{".local/state/copse/servers/up.log", false},
	{".local/state/copse/tasks/*.json", false},
	{".local/state/copse/tasks/*.lock", false},
	{".local/state/copse/tasks/runs/*.json", false},
	{".local/state/copse/tasks/running/*", false},
	{"run/copse/up.sock", false},
	{"run/copse/up.lock", false},
	{"run/copse/presence/*", false}, // who works where
}

// aHome makes a home directory that everybody can enter, has root's copse do there what writes files, and
// returns the paths of all that is there then, while a server and copse up run.
func aHome(t *testing.T, owner int) (home string, paths []string) {
	t.Helper()
	otheruser.Need(t)
	if _, err := xec.Env(os.Environ()).LookPath("just"); err != nil {
		need.Skip(t, "just is not installed")
	}
	bin := built.Programs(t)
	dir, env := repository(t)
	home, err := os.MkdirTemp("", "home") //nolint:usetesting // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(home) })
	if err := os.Mkdir(filepath.Join(home, "run"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(home, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(home, owner, owner); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "justfile"), []byte("hi:\n  @echo hi\nhold:\n  @echo held; sleep 60\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := free.Addr().(*net.TCPAddr).Port
	_ = free.Close()
	env = slices.Concat(env, []string{"HOME=" + home, "XDG_RUNTIME_DIR=" + filepath.Join(home, "run"), "PATH=" + bin + ":" + os.Getenv("PATH")})
	copse := func(args ...string) []string { // no mode is only that of the mask
		return slices.Concat([]string{"/bin/sh", "-c", `umask 0; exec copse "$@"`, "sh"}, args)
	}
	run := func(args ...string) {
		t.Helper()
		argv := copse(args...)
		cmd := exec.CommandContext(t.Context(), argv[0], argv[1:]...)
		cmd.Dir, cmd.Env = dir, env
		cmd.Stdin = strings.NewReader(`{"session_id":"x","hook_event_name":"BeforeAgent"}`)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("copse %v: %v\n%s", args, err, out)
		}
	}
	run("task", "run", "hi")
	run("repo", "add", ".")
	run("up", "--detach", "--port", strconv.Itoa(port))
	t.Cleanup(func() {
		cmd := exec.Command(filepath.Join(bin, "copse"), "down") // the test's context has ended
		cmd.Dir, cmd.Env = dir, env
		_ = cmd.Run()
	})
	run("mcp", "install", "--client", "cursor", "--transport", "http")
	run("mcp", "hook", "--client", "gemini")
	run("conflicts")
	start(t, dir, env, copse("task", "run", "hold")...).await("held")
	server := start(t, dir, env, copse("mcp", "serve")...)
	server.initialize()
	server.send(`{"jsonrpc":"2.0","id":"c","method":"tools/call","params":{"name":"get_project_context","arguments":{}}}`)
	server.await(`"id":"c"`)
	if owner == 0 { // nobody but its owner uses the directory of the socket
		for _, name := range []string{"up.sock", "up.lock"} {
			if _, err := os.Lstat(filepath.Join(home, "run", "copse", name)); err != nil {
				t.Error(err)
			}
		}
	}
	for range 100 { // the server notes its presence beside its answers
		if notes, _ := filepath.Glob(filepath.Join(home, "run", "copse", "presence", "*")); len(notes) > 0 || owner != 0 {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	err = filepath.WalkDir(home, func(name string, _ fs.DirEntry, err error) error {
		paths = append(paths, name)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return home, paths
}

// kindOf returns the index of a file's kind in usersFiles, -1 if it has none.
func kindOf(name string) int {
	for i, kind := range usersFiles {
		if ok, _ := path.Match(kind.pattern, name); ok {
			return i
		}
	}
	return -1
}

// Another user of the machine can neither read, change, nor replace any of the files, and cannot connect to
// copse up, even if the home directory is open to all.
func TestOtherAccounts(t *testing.T) {
	t.Parallel()
	home, paths := aHome(t, 0)
	found := map[int]bool{}
	for _, name := range paths {
		rel, _ := filepath.Rel(home, name)
		info, err := os.Lstat(name)
		if err != nil {
			t.Fatal(err)
		}
		kind := kindOf(rel)
		found[kind] = true
		if kind < 0 && !info.IsDir() {
			t.Errorf("%s is of no kind: add it to usersFiles", rel)
		}
		if info.IsDir() && (rel == "." || rel == "run") {
			continue // the user's own
		}
		if info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has the mode %s", rel, info.Mode())
		}
	}
	for i, kind := range usersFiles {
		if !found[i] {
			t.Errorf("nothing is %s", kind.pattern)
		}
	}
	tries := map[string]func(name string) error{
		"read":    func(name string) error { _, err := os.ReadFile(name); return err },
		"list":    func(name string) error { _, err := os.ReadDir(name); return err },
		"write":   func(name string) error { return os.WriteFile(name, nil, 0o600) },
		"add":     func(name string) error { return os.WriteFile(name+".new", nil, 0o600) },
		"remove":  os.Remove,
		"replace": func(name string) error { return os.Rename(name, name+".old") },
		"connect": func(name string) error {
			s, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
			if err != nil {
				return nil
			}
			defer func() { _ = unix.Close(s) }()
			return unix.Connect(s, &unix.SockaddrUnix{Name: name})
		},
	}
	otheruser.Do(t, func() {
		for _, name := range paths {
			rel, _ := filepath.Rel(home, name)
			if rel == "." {
				continue
			}
			for what, try := range tries {
				if what == "list" && rel == "run" {
					continue
				}
				if try(name) == nil {
					t.Errorf("another user can %s %s", what, rel)
				}
			}
		}
	})
}

// With "sudo -E", the user's home directory has nothing of root's afterward, except tokens of root's servers.
func TestRootLeavesTheHomeToItsUser(t *testing.T) {
	t.Parallel()
	home, paths := aHome(t, otheruser.UID)
	tokens := 0
	for _, name := range paths {
		rel, _ := filepath.Rel(home, name)
		info, err := os.Lstat(name)
		if err != nil {
			t.Fatal(err)
		}
		if rel == "run" || strings.HasPrefix(rel, "run/") {
			continue // root's own
		}
		want := uint32(otheruser.UID)
		if kind := kindOf(rel); kind >= 0 && usersFiles[kind].token && !info.IsDir() {
			want = 0
			tokens++
		}
		if stat, ok := info.Sys().(*syscall.Stat_t); !ok || stat.Uid != want {
			t.Errorf("%s belongs to %d, not %d", rel, stat.Uid, want)
		}
	}
	if tokens == 0 {
		t.Error("there is no token")
	}
	otheruser.Do(t, func() {
		for _, name := range paths {
			rel, _ := filepath.Rel(home, name)
			kind := kindOf(rel)
			_, err := os.ReadFile(name)
			switch {
			case kind >= 0 && usersFiles[kind].token && err == nil:
				t.Errorf("the user can read %s", rel)
			case kind >= 0 && !usersFiles[kind].token && strings.HasPrefix(rel, ".") && err != nil:
				t.Errorf("the user cannot read %s: %v", rel, err)
			}
		}
	})
}
