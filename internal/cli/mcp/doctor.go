package mcp

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/cli/output"
	"github.com/copse-dev/copse/internal/cli/progress"
)

// verdict is what a check comes to.
type verdict string

const (
	good   verdict = "ok"
	absent verdict = "none" // not there, and nothing is wrong about that
	bad    verdict = "FAIL"
)

// finding is the result of a check.
type finding struct {
	Check   string  `json:"check"`
	Verdict verdict `json:"verdict"`
	Text    string  `json:"text"`
	// Remedy is what to do, "" if there is nothing.
	Remedy string `json:"remedy,omitempty"`
}

// check is one link of the chain from a client to what copse knows.
type check struct {
	name string
	look func(ctx context.Context) finding
}

// checkTime is how long a check may take.
const checkTime = 20 * time.Second

func doctorCommand(env app.Env) *cobra.Command {
	var (
		repo           string
		online, asJSON bool
	)
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check everything between a client and what copse knows",
		Long: `Check everything between a client and what copse knows: the program, the handshake, the
clients' configurations, git, branch state, credentials, work items, prompt commands,
tasks, containers and copse up. Each line says what was found and what to do. What is
"none" is not there, which is fine if you do not need it.

Nothing is asked of GitHub and Jira unless you say --online. The exit code is 1 if
something fails.`,
		Example: `  copse mcp doctor
  copse mcp doctor --online`,
		Args: app.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			stop := progress.Show(env, "checking")
			found := diagnose(cmd.Context(), checks(cmd.Context(), env, repo, online))
			stop()
			if err := report(env, found, asJSON); err != nil {
				return err
			}
			for _, f := range found {
				if f.Verdict == bad {
					return app.ExitCode(app.Failed)
				}
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.StringVar(&repo, "repo", "", "the `path` of the project (default: found from the working folder upwards)")
	f.BoolVar(&online, "online", false, "ask GitHub and Jira whether they take the credentials")
	output.JSONFlag[[]finding](cmd, &asJSON)
	return cmd
}

// diagnose makes all checks at the same time.
func diagnose(ctx context.Context, all []check) []finding {
	found := make([]finding, len(all))
	var looking sync.WaitGroup
	for i, c := range all {
		looking.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, checkTime)
			defer cancel()
			found[i] = c.look(ctx)
			found[i].Check = c.name
			if errors.Is(ctx.Err(), context.DeadlineExceeded) {
				found[i] = finding{c.name, bad, fmt.Sprintf("no answer within %s", checkTime), "See what holds it up."}
			}
		})
	}
	looking.Wait()
	return found
}

func report(env app.Env, found []finding, asJSON bool) error {
	out := output.New(env)
	if asJSON {
		return out.JSON(found)
	}
	var rows [][]string
	for _, f := range found {
		text := f.Text
		if f.Remedy != "" {
			text = strings.TrimSuffix(text, ".") + ". " + f.Remedy
		}
		rows = append(rows, []string{string(f.Verdict), f.Check, text})
	}
	if !out.Terminal() {
		return out.Table([]output.Column{{Name: "verdict"}, {Name: "check"}, {Name: "finding"}}, rows)
	}
	// Not cut: what to do stands at the end of the line.
	for _, r := range rows {
		mark := fmt.Sprintf("%-4s", r[0])
		if r[0] == string(bad) {
			mark = out.Bold(mark)
		}
		if err := out.Drawn(fmt.Sprintf("%s  %-12s  %s\n", mark, r[1], cleantext.Line(r[2]))); err != nil {
			return err
		}
	}
	return nil
}
