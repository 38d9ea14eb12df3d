package deno_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/copse-dev/copse/internal/command"
	"github.com/copse-dev/copse/internal/command/deno"
	"github.com/copse-dev/copse/internal/command/render"
	"github.com/copse-dev/copse/internal/xec"
)

// standIn makes a program named deno that writes its arguments, input and environment
// into files and then does what the script says. Tests that use it do not run side by
// side: while one starts a program, that holds the file open which another writes, and
// an open program cannot be run.
func standIn(t *testing.T, script string) (env xec.Env, dir string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the stand-in is a shell script")
	}
	bin, dir := t.TempDir(), t.TempDir()
	script = "#!/bin/sh\nfor a in \"$@\"; do echo \"$a\"; done >args\n/bin/cat >stdin\n/usr/bin/env >env\n" + script
	if err := os.WriteFile(filepath.Join(bin, "deno"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	return xec.Env{"PATH=" + bin, "HOME=/home/somebody", "LOG_LEVEL=debug", "TEST=true", "NODE_ENV=test"}, dir
}

func request(agent string, flags ...string) render.Request {
	return render.Request{Agent: agent, ID: command.ID{C1: "git", C2: "write", C3: "message"}, Args: render.ParseFlags(flags)}
}

func read(t *testing.T, dir, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestRun(t *testing.T) {
	env, dir := standIn(t, `echo "# The prompt"; echo a warning >&2`)
	r := request("climpt", "--edition=alt", "--uv-a=x y=$(z)")
	r.InputText = "the input\n"
	got, err := deno.Run(t.Context(), env, dir, r)
	if err != nil || got.Prompt != "# The prompt\n" {
		t.Errorf("got %q, %v", got.Prompt, err)
	}
	want := []string{
		"run", "--allow-read", "--allow-write", "--allow-env", "--allow-run", "--allow-net", "--no-config", "jsr:@aidevtool/climpt",
		"--config=git", "write", "message", "--edition=alt", "--uv-a=x y=$(z)", "",
	}
	if diff := cmp.Diff(want, strings.Split(read(t, dir, "args"), "\n")); diff != "" {
		t.Error(diff)
	}
	if got := read(t, dir, "stdin"); got != "the input\n" {
		t.Errorf("the input is %q", got)
	}
	seen := read(t, dir, "env")
	if !strings.Contains(seen, "HOME=/home/somebody\n") || strings.Contains(seen, "LOG_LEVEL") || strings.Contains(seen, "TEST=") || strings.Contains(seen, "NODE_ENV") {
		t.Errorf("the environment is %s", seen)
	}
}

func TestOtherAgent(t *testing.T) {
	env, dir := standIn(t, "echo done")
	if _, err := deno.Run(t.Context(), env, dir, request("reviewer")); err != nil {
		t.Fatal(err)
	}
	if args := read(t, dir, "args"); !strings.Contains(args, "\n--config=reviewer-git\n") {
		t.Errorf("the arguments are %s", args)
	}
}

// The program's own words are told, and what it does not say.
func TestFailures(t *testing.T) {
	for script, want := range map[string]string{
		"echo 'error: no such module' >&2; exit 3": "error: no such module\ndeno ended with status 3",
		"echo out; exit 1":                         "deno ended with status 1",
		"printf '\\033[31mred\\033[0m\\n' >&2":     "red\nthe original program printed nothing, as it does when it refuses a command; remove commands.runner: deno to see the reason",
		"echo":                                     "the original program printed nothing, as it does when it refuses a command; remove commands.runner: deno to see the reason",
		"/usr/bin/head -c 5000000 /dev/zero":       fmt.Sprintf("the original program printed more than %d bytes", render.MaxPrompt),
	} {
		env, dir := standIn(t, script)
		_, err := deno.Run(t.Context(), env, dir, request("climpt"))
		if _, ok := errors.AsType[*render.Error](err); !ok || err.Error() != want {
			t.Errorf("%s: %v, want %s", script, err, want)
		}
	}
}

func TestNotInstalled(t *testing.T) {
	_, err := deno.Run(t.Context(), xec.Env{"PATH=" + t.TempDir()}, t.TempDir(), request("climpt"))
	if _, ok := errors.AsType[*render.Error](err); !ok || !errors.Is(err, xec.ErrNotInstalled) || !strings.Contains(err.Error(), "https://deno.com") {
		t.Errorf("got %v", err)
	}
}

func TestCancelled(t *testing.T) {
	env, dir := standIn(t, "echo done")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := deno.Run(ctx, env, dir, request("climpt")); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// Nothing that is given can become another option, or a file.
func TestRefusals(t *testing.T) {
	env, dir := standIn(t, "echo done")
	var requests []render.Request
	for _, flag := range []string{"--help", "-h", "--version", "-v", "--version=1", "--bogus", "--allow-all", "word", "", "init", "-f=/etc/passwd", "-o=../x", "--uv-1=2", "--uv-a=x;y", "--uv-input_text=x"} {
		requests = append(requests, request("climpt", flag))
	}
	for _, id := range []command.ID{
		{C1: "git", C2: "--version", C3: "message"}, {C1: "git", C2: "write", C3: "-h"}, {C1: "../git", C2: "write", C3: "message"}, {C2: "write", C3: "message"},
		{C1: "git", C2: "", C3: "message"}, {C1: "git", C2: "write", C3: ".."}, {C1: "git", C2: "wri te", C3: "message"}, {C1: "git\n", C2: "write", C3: "message"},
	} {
		requests = append(requests, render.Request{Agent: "climpt", ID: id})
	}
	requests = append(requests, request("a/b"), render.Request{
		Agent: "climpt", ID: request("").ID, Args: render.Options{Variables: []render.Value{{Name: "a=--config", Value: "x"}}}.Args(),
	})
	for _, r := range requests {
		if got, err := deno.Run(t.Context(), env, dir, r); err == nil {
			t.Errorf("%q %q: %q", r.ID, r.Args.Flags(), got.Prompt)
		} else if _, ok := errors.AsType[*render.Error](err); !ok {
			t.Errorf("%q: %v", r.ID, err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "args")); !errors.Is(err, fs.ErrNotExist) {
		t.Error("the program was run")
	}
}
