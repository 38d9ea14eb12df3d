package git

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/copse-dev/copse/internal/xec"
)

const (
	// programTimeout limits the git program where the context does not. The
	// status of a large repository on a cold disk takes its time.
	programTimeout = time.Minute
	// programOutput limits what is read of its output: some hundred thousand
	// files in a status.
	programOutput = 64 << 20
)

var errTooMuch = errors.New("git printed more than can be read")

// git runs the git program and returns what it printed.
func (r *Repo) git(ctx context.Context, args ...string) ([]byte, error) {
	// The file system monitor is a program that the configuration names, or a
	// daemon of git's that would outlive this process.
	args = append([]string{"--no-pager", "-c", "core.fsmonitor=false"}, args...)
	res, err := xec.Run(ctx, xec.Command{
		Name: "git", Args: args, Dir: r.commandDir, Env: r.gitEnv,
		Timeout: programTimeout, MaxOutput: programOutput,
	})
	if err != nil {
		return nil, err
	}
	if res.Truncated {
		return nil, fmt.Errorf("%w (%d MB)", errTooMuch, programOutput>>20)
	}
	return res.Stdout, nil
}

// gitEnv returns the environment for the git program: without the variables
// that name another repository or change what is read of this one, and with
// those that keep it from writing, asking and fetching.
func gitEnv(env xec.Env) xec.Env {
	return env.Without(
		"GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY",
		"GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_IMPLICIT_WORK_TREE", "GIT_PREFIX",
		"GIT_GRAFT_FILE", "GIT_SHALLOW_FILE", "GIT_REPLACE_REF_BASE", "GIT_NO_REPLACE_OBJECTS",
		"GIT_INTERNAL_SUPER_PREFIX", "GIT_REFERENCE_BACKEND",
		"GIT_CONFIG", "GIT_CONFIG_PARAMETERS", "GIT_CEILING_DIRECTORIES",
	).With(
		"GIT_OPTIONAL_LOCKS=0",
		"GIT_TERMINAL_PROMPT=0",
		"GIT_NO_LAZY_FETCH=1",
		"LC_ALL=C",
	)
}
