// Package login decides how git gets a login for a remote, without a question and without a password among the
// arguments of programs.
//
// Use [Separate] for an address, and [Silent] for the environment of git. [Window] recognizes programs that ask.
package login

import (
	"errors"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/copse-dev/copse/internal/lazyregexp"
	"github.com/copse-dev/copse/internal/xec"
)

const server = `((?:[\p{L}\p{N}._-]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]+)?)(/.*)?$`

// withPassword matches an address over HTTP with a login that has a password, and withUser one with another
// login or none.
var (
	withPassword = lazyregexp.New(`^(https?://)([^:/?#@\\]*):([^/?#@\\]*)@` + server)
	withUser     = lazyregexp.New(`^https?://(?:[^:/?#@\\]*@)?` + server)
)

// errUnusual does not repeat the address.
var errUnusual = errors.New("its address has an unusual login; percent-encode the special characters of the password, as in %40 for @, or use a credential helper")

// repeatLogin is a credential helper of git, which a shell runs. It repeats the environment.
const repeatLogin = `!f() { test "$1" = get && printf 'username=%s\npassword=%s\n' "$COPSE_GIT_USER" "$COPSE_GIT_PASSWORD"; }; f`

// Separate returns an address without its login, if that has a password, and the options and the
// environment with which git uses the login. Other users of the machine can read the arguments of git, and
// of the programs that git starts. The login is for the server of the address, not for a proxy.
func Separate(address string) (bare string, options, env []string, err error) {
	m := withPassword.Get().FindStringSubmatch(address)
	if m == nil {
		if strings.HasPrefix(address, "http") && strings.Contains(address, "@") && !withUser.Get().MatchString(address) {
			return "", nil, nil, errUnusual
		}
		return address, nil, nil, nil
	}
	user, userErr := url.PathUnescape(m[2])
	password, passwordErr := url.PathUnescape(m[3])
	if userErr != nil || passwordErr != nil || strings.ContainsAny(user+password, "\r\n\x00") {
		return "", nil, nil, errUnusual
	}
	key := "credential." + m[1] + m[4] + ".helper="
	// The empty value removes the user's helpers: the address comes with its own login.
	return m[1] + m[4] + m[5], []string{"-c", key, "-c", key + repeatLogin}, []string{"COPSE_GIT_USER=" + user, "COPSE_GIT_PASSWORD=" + password}, nil
}

// windows matches the names of the usual programs that ask for a login in a window. Desktops and
// git-gui put them into GIT_ASKPASS.
var windows = lazyregexp.New(`(?i)^(?:.*ssh-?askpass[0-9]*|git-gui--askpass|git-askpass\.exe)(?:\.exe)?$`)

// Window reports whether a program that GIT_ASKPASS can name asks for a login in a window.
func Window(program string) bool { return windows.Get().MatchString(filepath.Base(program)) }

// Silent returns an environment in which nothing opens a window or a prompt. The user's askpass program is
// not in it.
func Silent(env xec.Env) xec.Env {
	return env.Without("SSH_ASKPASS", "DISPLAY", "WAYLAND_SOCKET").With(
		// An empty program disables those of core.askPass, too.
		"GIT_ASKPASS=", "SSH_ASKPASS_REQUIRE=never", "GCM_INTERACTIVE=never",
		// Without a value, programs try the first display.
		"WAYLAND_DISPLAY=",
	)
}
