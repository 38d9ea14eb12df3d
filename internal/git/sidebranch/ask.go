package sidebranch

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/copse-dev/copse/internal/lazyregexp"
	"github.com/copse-dev/copse/internal/xec"
)

// windows matches the names of the usual programs that ask for a login in a window. Desktops and
// git-gui put them into GIT_ASKPASS.
var windows = lazyregexp.New(`(?i)^(?:.*ssh-?askpass[0-9]*|git-gui--askpass|git-askpass\.exe)(?:\.exe)?$`)

// silent returns an environment in which nothing opens a window or a prompt. The user's askpass program is
// not in it; see [Branch.askpass].
func silent(env xec.Env) xec.Env {
	return env.Without("SSH_ASKPASS", "DISPLAY", "WAYLAND_SOCKET").With(
		// An empty program disables those of core.askPass, too.
		"GIT_ASKPASS=", "SSH_ASKPASS_REQUIRE=never", "GCM_INTERACTIVE=never",
		// Without a value, programs try the first display.
		"WAYLAND_DISPLAY=",
	)
}

// askpass returns the options and the environment with which a transfer that nobody has asked for gets the
// user's login. Editors, CI, and containers provide a login with GIT_ASKPASS or core.askPass: a program that
// answers without a question. SSH_ASKPASS is always a program that asks.
func (b *Branch) askpass(ctx context.Context) (options, env []string) {
	if !b.repo.Unattended {
		return nil, nil
	}
	program, set := b.repo.Env.Lookup("GIT_ASKPASS")
	if !set {
		out, _ := b.git(ctx, nil, "config", "--get", "core.askPass") // an error: there is none
		program = strings.TrimSuffix(string(out), "\n")
	}
	if program == "" || windows.Get().MatchString(filepath.Base(program)) {
		// This is for helpers. Git itself starts no askpass program with it, so it is not always there.
		return []string{"-c", "credential.interactive=false"}, nil
	}
	return nil, []string{"GIT_ASKPASS=" + program}
}
