package control_test

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/copse-dev/copse/internal/supervisor/control"
	"github.com/copse-dev/copse/internal/test/otheruser"
)

// forged listens on the socket of a directory and counts who comes and what they say.
func forged(t *testing.T, l net.Listener) (conns, bytes *atomic.Int64) {
	t.Helper()
	conns, bytes = &atomic.Int64{}, &atomic.Int64{}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			conns.Add(1)
			go func() {
				defer c.Close()
				_ = c.SetDeadline(time.Now().Add(5 * time.Second))
				buf := make([]byte, 4096)
				for {
					n, err := c.Read(buf)
					bytes.Add(int64(n))
					if n > 0 {
						body := `{"pid":1,"guarded":false,"worktrees":[{"path":"/home/victim","mcp":{"server_running":true,"port":6666}}]}`
						_, _ = c.Write([]byte("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n" + body))
						return
					}
					if err != nil {
						return
					}
				}
			}()
		}
	}()
	t.Cleanup(func() { _ = l.Close() })
	return conns, bytes
}

func listen(t *testing.T, path string) net.Listener {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(context.Background(), "unix", path)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// Nothing is said to, and nothing believed of, a socket that is not this user's.
func TestForeignSocket(t *testing.T) {
	t.Parallel()
	otheruser.Need(t)
	for name, prepare := range map[string]func(t *testing.T, dir, path string) net.Listener{
		"directory of another user": func(t *testing.T, dir, path string) net.Listener {
			l := listen(t, path)
			if err := errors.Join(os.Chown(path, otheruser.UID, otheruser.UID), os.Chown(dir, otheruser.UID, otheruser.UID)); err != nil {
				t.Fatal(err)
			}
			return l
		},
		"directory that others can enter": func(t *testing.T, dir, path string) net.Listener {
			l := listen(t, path)
			if err := os.Chmod(dir, 0o711); err != nil {
				t.Fatal(err)
			}
			return l
		},
		"link to another directory": func(t *testing.T, dir, _ string) net.Listener {
			if err := errors.Join(os.Rename(dir, dir+"2"), os.Symlink(dir+"2", dir)); err != nil {
				t.Fatal(err)
			}
			return listen(t, filepath.Join(dir+"2", "up.sock"))
		},
		"socket of another user": func(t *testing.T, _, path string) net.Listener {
			l := listen(t, path)
			if err := os.Chown(path, otheruser.UID, otheruser.UID); err != nil {
				t.Fatal(err)
			}
			return l
		},
		"link to another socket": func(t *testing.T, dir, path string) net.Listener {
			l := listen(t, filepath.Join(dir, "other"))
			if err := os.Symlink("other", path); err != nil {
				t.Fatal(err)
			}
			return l
		},
		"process of another user": func(t *testing.T, dir, path string) net.Listener {
			// All that can be seen from outside is right; only the process is not.
			if err := os.Chmod(dir, 0o777); err != nil {
				t.Fatal(err)
			}
			var l net.Listener
			var failed error
			otheruser.Do(t, func() {
				l, failed = (&net.ListenConfig{}).Listen(context.Background(), "unix", path)
			})
			if err := errors.Join(failed, os.Chmod(dir, 0o700), os.Chown(path, 0, 0)); err != nil {
				t.Fatal(err)
			}
			return l
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := shortDir(t)
			if err := errors.Join(os.Chmod(filepath.Dir(dir), 0o755), os.Mkdir(dir, 0o700)); err != nil {
				t.Fatal(err)
			}
			conns, bytes := forged(t, prepare(t, dir, filepath.Join(dir, "up.sock")))
			status, err := control.NewClient(dir).Status(t.Context())
			if foreign, ok := errors.AsType[*control.ForeignError](err); !ok || !strings.Contains(foreign.Error(), "nothing in it is trusted") {
				t.Errorf("got %+v, %v", status, err)
			}
			if bytes.Load() != 0 {
				t.Errorf("%d bytes were sent on %d connections", bytes.Load(), conns.Load())
			}
		})
	}
}

// The directory is not taken over from another user, and another user who gets as far as
// the socket is hung up on.
func TestForeignClient(t *testing.T) {
	t.Parallel()
	otheruser.Need(t)
	taken := shortDir(t)
	if err := errors.Join(os.Mkdir(taken, 0o700), os.Chown(taken, otheruser.UID, otheruser.UID)); err != nil {
		t.Fatal(err)
	}
	if _, err := control.Take(taken); err == nil || !strings.Contains(err.Error(), "is not a directory of this user alone") {
		t.Errorf("a foreign directory is used: %v", err)
	}

	dir, f := shortDir(t), &fake{}
	answer(t, dir, f, control.Options{Stop: func() { t.Error("a stranger stopped it") }})
	path := filepath.Join(dir, "up.sock")
	if err := errors.Join(os.Chmod(filepath.Dir(dir), 0o755), os.Chmod(dir, 0o711), os.Chmod(path, 0o666)); err != nil {
		t.Fatal(err)
	}
	var conn net.Conn
	var failed error
	otheruser.Do(t, func() { conn, failed = (&net.Dialer{}).DialContext(context.Background(), "unix", path) })
	if failed != nil {
		t.Fatal(failed)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(5 * time.Second))
	_, _ = conn.Write([]byte("POST /stop HTTP/1.1\r\nHost: copse\r\nContent-Length: 2\r\n\r\n{}")) // it may be closed already
	if n, err := conn.Read(make([]byte, 100)); n != 0 || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("a stranger was answered: %d bytes, %v", n, err)
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := control.NewClient(dir).Status(t.Context()); err != nil {
		t.Errorf("the user is not answered: %v", err)
	}
}
