package app_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/copse-dev/copse/internal/app"
)

// An error as JSON means the same, and cannot control a terminal or reverse text.
func TestErrorAsJSON(t *testing.T) {
	t.Parallel()
	const text = "a\u009b31m \u202eevil \u200b \u2028 \x7f \x1b[31m"
	var stderr bytes.Buffer
	env := app.Env{Args: []string{"--json"}, Stderr: &stderr}
	code := app.Execute(t.Context(), env, func(app.Env) *cobra.Command {
		c := &cobra.Command{Use: "x", RunE: func(*cobra.Command, []string) error { return errors.New(text) }}
		c.Flags().Bool("json", false, "")
		return c
	})
	const want = `{"error":"a\u009b31m \u202eevil \u200b \u2028 \u007f \u001b[31m"}` + "\n"
	if code != app.Failed || stderr.String() != want {
		t.Errorf("exit code %d, %q, want %q", code, &stderr, want)
	}
	var got struct{ Error string }
	if err := json.Unmarshal(stderr.Bytes(), &got); err != nil || got.Error != text {
		t.Errorf("read again: %q, %v", got.Error, err)
	}
}

// No completion has a character that a shell evaluates, and no description can be a part of what
// several candidates have in common.
func TestCompletions(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	env := app.Env{Args: []string{"__complete", "show", ""}, Stdout: &out, Stderr: io.Discard}
	app.Execute(t.Context(), env, func(app.Env) *cobra.Command {
		root := &cobra.Command{Use: "x", Run: func(*cobra.Command, []string) {}}
		root.AddCommand(&cobra.Command{Use: "show", Run: func(*cobra.Command, []string) {}, ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return []string{"a;id", "$(id)", "`id`", "ok\t$(id)", "Ok\t$(id)", "in review", "a --yes"}, cobra.ShellCompDirectiveNoFileComp
		}})
		return root
	})
	if got, want := out.String(), "ok\t$(id)\nOk\nin review\n:4\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// No command runs before signals end its context.
func TestReadyBeforeCommand(t *testing.T) {
	t.Parallel()
	var order []string
	env := app.EmptyEnv()
	env.Ready = func() { order = append(order, "ready") }
	app.Execute(t.Context(), env, func(app.Env) *cobra.Command {
		return &cobra.Command{Use: "x", RunE: func(*cobra.Command, []string) error {
			order = append(order, "run")
			return nil
		}}
	})
	if !slices.Equal(order, []string{"ready", "run"}) {
		t.Error(order)
	}
}

// A server of one client starts without signals: it calls Ready itself.
func TestServerCallsReadyItself(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"mcp", "serve"}, {"mcp", "serve", "--read-only"}, {"mcp", "doctor"}, {"mcp"}, {"serve"}, nil} {
		ready := false
		env := app.EmptyEnv()
		env.Args, env.Ready = args, func() { ready = true }
		app.Execute(t.Context(), env, func(app.Env) *cobra.Command {
			return &cobra.Command{Use: "x", DisableFlagParsing: true, RunE: func(*cobra.Command, []string) error { return nil }}
		})
		if serves := len(args) > 1 && args[1] == "serve"; ready == serves {
			t.Errorf("%q: Execute called Ready: %v", args, ready)
		}
	}
}
