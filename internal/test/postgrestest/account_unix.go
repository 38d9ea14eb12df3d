//go:build unix

package postgrestest

import (
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"syscall"
)

// account returns the account that a server of root runs as.
func account() (uid, gid int, ok bool) {
	if os.Geteuid() != 0 {
		return 0, 0, false
	}
	for _, name := range []string{"postgres", "nobody"} {
		if u, err := user.Lookup(name); err == nil {
			uid, uidErr := strconv.Atoi(u.Uid)
			gid, gidErr := strconv.Atoi(u.Gid)
			if uidErr == nil && gidErr == nil {
				return uid, gid, true
			}
		}
	}
	return 0, 0, false
}

// giveAway makes the directory that of the server's account.
func giveAway(dir string) error {
	uid, gid, ok := account()
	if !ok {
		return nil
	}
	return os.Chown(dir, uid, gid)
}

// asOther lets a command run as the server's account.
func asOther(cmd *exec.Cmd) {
	cmd.SysProcAttr = attributes()
	if uid, gid, ok := account(); ok {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	}
}
