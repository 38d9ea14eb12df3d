// Package deno renders a command with the original program, for users who choose it: deno fetches
// and runs climpt.
//
// [Run] sets a time limit, limits the size of the prompt, and kills all processes that it started
// at the end. It checks the arguments like those of a command that is rendered in this process, so
// none can act as another option. They follow the program's name, so deno itself interprets none of
// them.
package deno

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/copse-dev/copse/internal/git/ownpath"

	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/command/render"
	"github.com/copse-dev/copse/internal/lazyregexp"
	"github.com/copse-dev/copse/internal/xec"
)

// timeLimit is the time limit for fetching and running.
const timeLimit = 2 * time.Minute

// program is the program that deno runs.
const program = "jsr:@aidevtool/climpt"

// name is the form of a part of a command's name: never that of an option.
var name = lazyregexp.New(`^[A-Za-z0-9_][A-Za-z0-9_-]*$`)

// misleading are variables that make the original print debugging output into the prompt, or drop
// or replace the input text, for its own tests.
var misleading = []string{"LOG_LEVEL", "TEST", "TEST_MODE", "DENO_TEST", "DENO_ENV", "NODE_ENV", "BREAKDOWN_SKIP_STDIN"}

// Run renders a command in the directory dir. The error is a *render.Error, or that of the context.
func Run(ctx context.Context, env xec.Env, dir string, r render.Request) (render.Result, error) {
	for _, part := range []string{r.Agent, r.ID.C1, r.ID.C2, r.ID.C3} {
		if !name.Get().MatchString(part) {
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
		Env:   ownpath.Without(env, dir).Without(misleading...).With("NO_COLOR=1", "DENO_NO_PROMPT=1", "DENO_NO_UPDATE_CHECK=1"),
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
			"the original program printed nothing, as it does when it refuses a command; remove commands.runner: deno to see the reason")}
	}
	return render.Result{Prompt: strings.ToValidUTF8(string(res.Stdout), "\uFFFD")}, nil
}

// explain returns one reason from the program's end and its output.
func explain(ctx context.Context, err error, res xec.Result) error {
	switch {
	case errors.Is(err, xec.ErrNotInstalled):
		return &render.Error{Reason: "deno is not installed, but commands.runner in your settings requires it; get it from https://deno.com, or remove that line", Err: err}
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

// join puts the text on stderr before a reason.
func join(res xec.Result, reason string) string {
	const maximum = 4 << 10
	written := strings.TrimSpace(cleantext.Block(string(res.Stderr)))
	if len(written) > maximum {
		written = strings.ToValidUTF8(written[:maximum], "") + "…"
	}
	if written == "" {
		return reason
	}
	return written + "\n" + reason
}
