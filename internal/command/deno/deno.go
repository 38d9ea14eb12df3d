// Package deno renders a command with the original program, for workspaces that
// ask for it: deno fetches and runs climpt.
//
// [Run] gives it a time limit, takes a bounded prompt, and kills all that it started
// at the end. The arguments are checked as they are for a command that is rendered in
// this process, so that none can become another option than it says; they come behind
// the program's name, so that deno itself takes none of them for its own.
package deno

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/command/render"
	"github.com/copse-dev/copse/internal/xec"
)

// timeLimit is for fetching and running.
const timeLimit = 2 * time.Minute

// program is what deno runs.
const program = "jsr:@aidevtool/climpt"

// name is what a part of a command's name looks like: never like an option.
var name = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_-]*$`) })

// misleading are variables that make the original print its debugging into the prompt,
// or leave out the input text or put another in its place, for its own tests.
var misleading = []string{"LOG_LEVEL", "TEST", "TEST_MODE", "DENO_TEST", "DENO_ENV", "NODE_ENV", "BREAKDOWN_SKIP_STDIN"}

// Run renders a command in the directory dir. The error is a *render.Error, or that of the context.
func Run(ctx context.Context, env xec.Env, dir string, r render.Request) (render.Result, error) {
	for _, part := range []string{r.Agent, r.ID.C1, r.ID.C2, r.ID.C3} {
		if !name().MatchString(part) {
			return render.Result{}, &render.Error{Reason: fmt.Sprintf("%q is not a name that the original program accepts", part)}
		}
	}
	if err := r.Check(); err != nil {
		return render.Result{}, err
	}
	args := []string{
		"run", "--allow-read", "--allow-write", "--allow-env", "--allow-run", "--allow-net", "--no-config", program,
		"--config=" + render.Profile(r.Agent, r.ID), r.ID.C2, r.ID.C3,
	}
	res, err := xec.Run(ctx, xec.Command{
		Name: "deno", Args: append(args, r.Args.Flags()...), Dir: dir,
		Env:   env.Without(misleading...).With("NO_COLOR=1", "DENO_NO_PROMPT=1", "DENO_NO_UPDATE_CHECK=1"),
		Stdin: []byte(r.InputText), Timeout: timeLimit, MaxOutput: render.MaxPrompt + 1,
	})
	if err != nil {
		return render.Result{}, explain(ctx, err, res)
	}
	switch {
	case len(res.Stdout) > render.MaxPrompt:
		return render.Result{}, &render.Error{Reason: fmt.Sprintf("the original program printed more than %d bytes", render.MaxPrompt)}
	case strings.TrimSpace(string(res.Stdout)) == "":
		return render.Result{}, &render.Error{Reason: join(res,
			"the original program printed nothing, as it does when it refuses a command; without commands.runner: deno the reason is told")}
	}
	return render.Result{Prompt: strings.ToValidUTF8(string(res.Stdout), "\uFFFD")}, nil
}

// explain makes one reason of how the program ended and what it wrote.
func explain(ctx context.Context, err error, res xec.Result) error {
	switch {
	case errors.Is(err, xec.ErrNotInstalled):
		return &render.Error{Reason: "deno is not installed, which commands.runner in your settings asks for; get it from https://deno.com, or remove that line", Err: err}
	case ctx.Err() != nil:
		return err
	case errors.Is(err, context.DeadlineExceeded):
		return &render.Error{Reason: join(res, fmt.Sprintf("not finished after %s", timeLimit)), Err: err}
	}
	if exit, ok := errors.AsType[*xec.ExitError](err); ok {
		return &render.Error{Reason: join(res, fmt.Sprintf("deno ended with status %d", exit.Code)), Err: err}
	}
	return &render.Error{Reason: err.Error(), Err: err}
}

// join puts what was written to stderr before a reason.
func join(res xec.Result, reason string) string {
	const most = 4 << 10
	written := strings.TrimSpace(cleantext.Block(string(res.Stderr)))
	if len(written) > most {
		written = strings.ToValidUTF8(written[:most], "") + "…"
	}
	if written == "" {
		return reason
	}
	return written + "\n" + reason
}
