//go:build unix

package discovery

import (
	"os"
	"strconv"
	"syscall"

	"github.com/copse-dev/copse/internal/xec"
)

// ownedByAccount reports whether a file belongs to the account that runs copse, or, under sudo, to the
// account that called it. A missing file does.
func ownedByAccount(path string, env xec.Env) bool {
	info, err := os.Lstat(path)
	if err != nil {
		return true
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return true
	}
	owner, user := int(stat.Uid), os.Geteuid()
	if user == 0 && owner != 0 {
		if caller, err := strconv.Atoi(env.Get("SUDO_UID")); err == nil {
			user = caller
		}
	}
	return owner == user
}
