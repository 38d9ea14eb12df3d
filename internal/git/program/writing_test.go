package program_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/copse-dev/copse/internal/git/gittest"
	"github.com/copse-dev/copse/internal/git/program"
	"github.com/copse-dev/copse/internal/xec"
)

// briefVar is set for a process that runs a brief command in the repository in its argument.
const briefVar = "COPSE_TEST_BRIEF"

func TestMain(m *testing.M) {
	if commit := os.Getenv(briefVar); commit != "" {
		at := program.New(program.Repository{Dir: os.Args[1], Root: os.Args[1]}, func() xec.Env { return os.Environ() }, unguarded{})
		_, _ = at.Brief().Run(context.Background(), "update-ref", "refs/heads/new", commit)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// A brief command continues when the process that runs it is killed.
func TestBriefOutlives(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("needs a shell script in the place of git")
	}
	g := gittest.New(t)
	dir := g.Init()
	commit := g.Commit(dir, "begin")
	caller := exec.CommandContext(t.Context(), os.Args[0], dir)
	started, killed := make(chan struct{}), make(chan struct{})
	g.During("update-ref", func() {
		<-started
		_ = caller.Process.Kill()
		<-killed
	})
	caller.Env = g.Env.With(briefVar + "=" + commit)
	if err := caller.Start(); err != nil {
		t.Fatal(err)
	}
	close(started)
	_ = caller.Wait() // it is killed
	close(killed)
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if at, err := g.Try(dir, "rev-parse", "--verify", "-q", "refs/heads/new"); err == nil && at == commit {
			return
		}
	}
	t.Error("the branch was not created")
}

type unguarded struct{}

func (unguarded) Settings(context.Context) ([]string, error) { return nil, nil }

func (unguarded) Obstacle(context.Context) (slow bool, err error) { return false, nil }

// A brief command that writes ends by itself: git that gets a signal while it creates a lock file leaves it. A
// command that reads ends with its context.
func TestBrief(t *testing.T) {
	t.Parallel()
	g := gittest.New(t)
	dir := g.Init()
	commit := g.Commit(dir, "begin")
	ctx, cancel := context.WithCancel(t.Context())
	runs := g.During("update-ref", cancel)
	at := program.New(program.Repository{Dir: dir, Root: dir}, func() xec.Env { return g.Env }, unguarded{})
	if _, err := at.Brief().Run(ctx, "update-ref", "refs/heads/new", commit); err != nil {
		t.Error(err)
	}
	if got, err := at.Run(t.Context(), "rev-parse", "refs/heads/new"); err != nil || string(got) != commit+"\n" {
		t.Errorf("the branch is at %q, %v", got, err)
	}
	if _, err := at.Brief().Run(ctx, "update-ref", "-d", "refs/heads/new"); !errors.Is(err, context.Canceled) {
		t.Errorf("a command begins after the end of its context: %v", err)
	}
	if runs() != 1 {
		t.Errorf("%d runs", runs())
	}
	ctx, cancel = context.WithCancel(t.Context())
	defer cancel()
	g.During("rev-parse", cancel)
	at = program.New(program.Repository{Dir: dir, Root: dir}, func() xec.Env { return g.Env }, unguarded{})
	if _, err := at.Run(ctx, "rev-parse", "HEAD"); !errors.Is(err, context.Canceled) {
		t.Errorf("a command that reads is not interrupted: %v", err)
	}
}

// A long command that writes is asked to end, and can remove its lock files.
func TestWriting(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("Windows asks no process to end")
	}
	g := gittest.New(t)
	dir := g.Init()
	bin := gittest.Dir(t)
	begun, asked := filepath.Join(bin, "begun"), filepath.Join(bin, "asked")
	script := "#!/bin/sh\ntrap ': >" + asked + "; exit 1' TERM\n: >" + begun + "\nwhile :; do sleep 0.01; done\n"
	if err := os.WriteFile(filepath.Join(bin, "git"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	env := g.Env.With("PATH=" + bin + string(filepath.ListSeparator) + g.Env.Get("PATH"))
	at := program.New(program.Repository{Dir: dir, Root: dir}, func() xec.Env { return env }, unguarded{})
	for _, test := range []struct {
		git  program.Git
		asks bool
	}{{at, false}, {at.Writing(), true}} {
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			for ctx.Err() == nil {
				if os.Remove(begun) == nil {
					cancel()
				}
			}
		}()
		if _, err := test.git.Run(ctx, "switch", "main"); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		cancel()
		if err := os.Remove(asked); (err == nil) != test.asks {
			t.Errorf("asked to end: %v, want %v", err == nil, test.asks)
		}
	}
}
