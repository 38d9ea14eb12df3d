package discovery

import (
	"errors"
	"io/fs"

	"golang.org/x/sys/windows"

	"github.com/copse-dev/copse/internal/xec"
)

// ownedByAccount reports whether a file belongs to the account that runs copse, or to the administrators
// if copse runs with their rights. A missing file does; one whose owner is unknown does not.
func ownedByAccount(path string, _ xec.Env) bool {
	info, err := windows.GetNamedSecurityInfo(path, windows.SE_FILE_OBJECT, windows.OWNER_SECURITY_INFORMATION)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	owner, _, err := info.Owner()
	if err != nil || owner == nil {
		return false
	}
	account, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		return false
	}
	// The token of this thread. In one without the rights of administrators, their group only denies.
	elevated := false
	if group, err := windows.StringToSid(administrators); err == nil {
		elevated, err = windows.Token(0).IsMember(group)
		elevated = elevated && err == nil
	}
	return ownedBySID(owner.String(), account.User.Sid.String(), elevated)
}
