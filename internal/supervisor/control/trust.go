package control

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
)

// ForeignError reports that a directory, a socket, or the answering process is not this user's.
// Nothing was sent to it, and nothing that it says is trusted.
type ForeignError struct {
	Path string
	What string // "belongs to another user or can be entered by others"
}

func (e *ForeignError) Error() string {
	return fmt.Sprintf("%s %s, so nothing in it is trusted; remove it, or, if it is another user's, set XDG_RUNTIME_DIR to a directory of your own or ask an administrator to remove it", e.Path, e.What)
}

// trusted checks that directory and socket belong to this user alone.
func trusted(dir string) error {
	for _, at := range []struct {
		path string
		ours func(fs.FileInfo) bool
		what string
	}{
		{dir, isOurs, "is not a directory of this user alone"},
		{filepath.Join(dir, socketName), isOurSocket, "is not a socket of this user"},
	} {
		info, err := os.Lstat(at.path)
		if errors.Is(err, fs.ErrNotExist) {
			return ErrNotRunning
		}
		if err != nil {
			return fmt.Errorf("inspect %s: %w", at.path, err)
		}
		if !at.ours(info) {
			return &ForeignError{Path: at.path, What: at.what}
		}
	}
	return nil
}

// dial connects to the supervising process, and returns its PID, 0 if the system does not report it.
// It fails unless the process runs as this user.
func dial(ctx context.Context, dir string) (net.Conn, int, error) {
	if err := trusted(dir); err != nil {
		return nil, 0, err
	}
	path := filepath.Join(dir, socketName)
	conn, err := (&net.Dialer{}).DialContext(ctx, "unix", path)
	if err != nil {
		return nil, 0, err
	}
	pid, err := samePeer(conn)
	if err != nil {
		return nil, 0, errors.Join(&ForeignError{Path: path, What: "belongs to a process of another user"}, conn.Close())
	}
	return conn, pid, nil
}

// samePeer fails unless the process at the other end runs as this user. It returns the PID.
func samePeer(conn net.Conn) (int, error) {
	local, ok := conn.(*net.UnixConn)
	if !ok {
		return 0, fmt.Errorf("%T is not a local connection", conn)
	}
	uid, pid, err := peer(local)
	if err == nil && uid != os.Getuid() {
		err = fmt.Errorf("it is user %d", uid)
	}
	return pid, err
}

// Accept waits for a process of this user. It disconnects others.
func (p *place) Accept() (net.Conn, error) {
	for {
		conn, err := p.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if _, err := samePeer(conn); err == nil {
			return conn, nil
		}
		_ = conn.Close()
	}
}
