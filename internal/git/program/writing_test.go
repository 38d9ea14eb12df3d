package program_test

import (
	"context"
	"errors"
	"testing"

	"github.com/copse-dev/copse/internal/git/gittest"
	"github.com/copse-dev/copse/internal/git/program"
	"github.com/copse-dev/copse/internal/xec"
)

type unguarded struct{}

func (unguarded) Settings(context.Context) ([]string, error) { return nil, nil }

func (unguarded) Obstacle(context.Context) (slow bool, err error) { return false, nil }

// A command that writes ends by itself: git that is killed while it creates a lock file leaves it. A
// command that reads ends with its context.
func TestWriting(t *testing.T) {
	t.Parallel()
	g := gittest.New(t)
	dir := g.Init()
	commit := g.Commit(dir, "begin")
	ctx, cancel := context.WithCancel(t.Context())
	runs := g.During("update-ref", cancel)
	at := program.New(program.Repository{Dir: dir, Root: dir}, func() xec.Env { return g.Env }, unguarded{})
	if _, err := at.Writing().Run(ctx, "update-ref", "refs/heads/new", commit); err != nil {
		t.Error(err)
	}
	if got, err := at.Run(t.Context(), "rev-parse", "refs/heads/new"); err != nil || string(got) != commit+"\n" {
		t.Errorf("the branch is at %q, %v", got, err)
	}
	if _, err := at.Writing().Run(ctx, "update-ref", "-d", "refs/heads/new"); !errors.Is(err, context.Canceled) {
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
