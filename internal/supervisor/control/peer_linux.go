package control

import (
	"fmt"
	"net"

	"golang.org/x/sys/unix"
)

// peer returns the user and the PID of the process at the other end: for a client, those of the
// process that began to listen.
func peer(conn *net.UnixConn) (uid, pid int, err error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0, 0, err
	}
	var cred *unix.Ucred
	var sockErr error
	if err := raw.Control(func(fd uintptr) {
		cred, sockErr = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	}); err != nil {
		return 0, 0, err
	}
	if sockErr != nil {
		return 0, 0, fmt.Errorf("read the peer's credentials: %w", sockErr)
	}
	return int(cred.Uid), int(cred.Pid), nil
}
