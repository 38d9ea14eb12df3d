// Command programs is copse, tic, or twig-mcp, depending on its name. With HOSTILE_BATCH in its
// environment, it runs many command lines in one process instead: a test that tries every command
// in a hundred repositories cannot start as many processes.
//
// In a batch, each line of standard input is a JSON [request], and each line of standard output the
// [outcome] of one.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/cli/copse"
	"github.com/copse-dev/copse/internal/cli/tic"
	"github.com/copse-dev/copse/internal/cli/twigmcp"
	"github.com/copse-dev/copse/internal/xec/guard"
)

var programs = map[string]func(context.Context, app.Env) int{
	"copse":    copse.Run,
	"tic":      tic.Run,
	"twig-mcp": twigmcp.Run,
}

const batchKey = "HOSTILE_BATCH"

// request is one command line.
type request struct {
	Program string   `json:"program"`
	Args    []string `json:"args"`
}

// outcome is the result of a request.
type outcome struct {
	Code   int    `json:"code"`
	Output string `json:"output"`
}

func main() {
	guard.Main()
	if os.Getenv(batchKey) != "" {
		if err := batch(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(app.Failed)
		}
		return
	}
	run, ok := programs[filepath.Base(os.Args[0])]
	if !ok {
		run = copse.Run
	}
	os.Exit(app.Main(run))
}

func batch() error {
	// A command may start this program again, as a client does.
	if err := os.Unsetenv(batchKey); err != nil {
		return err
	}
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	executable, err := os.Executable()
	if err != nil {
		return err
	}
	in, out := bufio.NewScanner(os.Stdin), json.NewEncoder(os.Stdout)
	for in.Scan() {
		var r request
		if err := json.Unmarshal(in.Bytes(), &r); err != nil {
			return err
		}
		var printed strings.Builder
		env := app.Env{
			Args: r.Args, Stdin: strings.NewReader(""), Stdout: &printed, Stderr: &printed,
			Dir: dir, Executable: executable, GOOS: runtime.GOOS, Now: time.Now,
		}
		env.Inherit(os.Environ())
		code := programs[r.Program](context.Background(), env)
		if err := out.Encode(outcome{Code: code, Output: printed.String()}); err != nil {
			return err
		}
	}
	return in.Err()
}
