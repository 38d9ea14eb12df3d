package sidebranch

import (
	"context"
	"strings"

	"github.com/copse-dev/copse/internal/git/sidebranch/login"
)

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
	if program == "" || login.Window(program) {
		// This is for helpers. Git itself starts no askpass program with it, so it is not always there.
		return []string{"-c", "credential.interactive=false"}, nil
	}
	return nil, []string{"GIT_ASKPASS=" + program}
}
