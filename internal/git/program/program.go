// Package program runs the git program so that it only reads: without optional locks,
// prompts, pager, network fetches of missing objects, or the file system monitor that the
// configuration names, and with a limit of time and output. Make a [Git] with [New]; what
// is asked of it must be something that reads.
package program

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/copse-dev/copse/internal/xec"
)

const (
	// timeout limits the git program where the context does not. The
	// status of a large repository on a cold disk takes its time.
	timeout = time.Minute
	// maxOutput limits what is read of its output: some hundred thousand
	// files in a status.
	maxOutput = 64 << 20
)

var errTooMuch = errors.New("git printed more than can be read")

// Git is the git program for one repository.
type Git struct {
	dir string
	env xec.Env
}

// New is the git program run in dir. env is the complete environment; what of it names
// another repository does not count.
func New(dir string, env xec.Env) Git { return Git{dir: dir, env: readOnly(env)} }

// Run runs git and returns what it printed.
func (g Git) Run(ctx context.Context, args ...string) ([]byte, error) {
	return g.Feed(ctx, nil, args...)
}

// Feed is Run with something for git to read.
func (g Git) Feed(ctx context.Context, input []byte, args ...string) ([]byte, error) {
	// The file system monitor is a program that the configuration names, or a
	// daemon of git's that would outlive this process.
	args = append([]string{"--no-pager", "-c", "core.fsmonitor=false"}, args...)
	res, err := xec.Run(ctx, xec.Command{
		Name: "git", Args: args, Dir: g.dir, Env: g.env,
		Timeout: timeout, MaxOutput: maxOutput, Stdin: input,
	})
	if err != nil {
		return nil, err
	}
	if res.Truncated {
		return nil, fmt.Errorf("%w (%d MB)", errTooMuch, maxOutput>>20)
	}
	return res.Stdout, nil
}

// readOnly returns the environment for the git program: without the variables
// that name another repository or change what is read of this one, and with
// those that keep it from writing, asking and fetching.
func readOnly(env xec.Env) xec.Env {
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
