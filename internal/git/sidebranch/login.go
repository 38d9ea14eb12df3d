package sidebranch

import (
	"errors"
	"net/url"
	"strings"

	"github.com/copse-dev/copse/internal/lazyregexp"
)

const server = `((?:[\p{L}\p{N}._-]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]+)?)(/.*)?$`

// withPassword matches an address over HTTP with a login that has a password, and withUser one with another
// login or none.
var (
	withPassword = lazyregexp.New(`^(https?://)([^:/?#@\\]*):([^/?#@\\]*)@` + server)
	withUser     = lazyregexp.New(`^https?://(?:[^:/?#@\\]*@)?` + server)
)

// errLogin does not repeat the address.
var errLogin = errors.New("its address has an unusual login; percent-encode the special characters of the password, as in %40 for @, or use a credential helper")

// repeatLogin is a credential helper of git, which a shell runs. It repeats the environment.
const repeatLogin = `!f() { test "$1" = get && printf 'username=%s\npassword=%s\n' "$COPSE_GIT_USER" "$COPSE_GIT_PASSWORD"; }; f`

// withoutPassword returns an address without its login, if that has a password, and the options and the
// environment with which git uses the login. Other users of the machine can read the arguments of git, and
// of the programs that git starts. The login is for the server of the address, not for a proxy.
func withoutPassword(address string) (bare string, options, env []string, err error) {
	m := withPassword.Get().FindStringSubmatch(address)
	if m == nil {
		if strings.HasPrefix(address, "http") && strings.Contains(address, "@") && !withUser.Get().MatchString(address) {
			return "", nil, nil, errLogin
		}
		return address, nil, nil, nil
	}
	user, userErr := url.PathUnescape(m[2])
	password, passwordErr := url.PathUnescape(m[3])
	if userErr != nil || passwordErr != nil || strings.ContainsAny(user+password, "\r\n\x00") {
		return "", nil, nil, errLogin
	}
	key := "credential." + m[1] + m[4] + ".helper="
	// The empty value removes the user's helpers: the address comes with its own login.
	return m[1] + m[4] + m[5], []string{"-c", key, "-c", key + repeatLogin}, []string{"COPSE_GIT_USER=" + user, "COPSE_GIT_PASSWORD=" + password}, nil
}
