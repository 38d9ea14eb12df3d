package xec

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
)

// Terminal is what an interactive program talks to.
type Terminal struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
}

// Interactive runs a program that a person uses, such as an editor, in the
// foreground of a terminal. Unlike with Run it stays in this process's group,
// has no time limit, and keeps none of its output; of c only Name, Args, Dir and
// Env count. Errors are those of Run.
func Interactive(ctx context.Context, c Command, t Terminal) error {
	found, err := c.program()
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, found.path)
	cmd.Args, cmd.Env = found.argv, found.env
	cmd.Dir = c.Dir
	cmd.Stdin, cmd.Stdout, cmd.Stderr = t.Stdin, t.Stdout, t.Stderr
	err = cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return &ExitError{Program: c.Name, Code: exit.ExitCode(), State: exit.String()}
	}
	if err != nil {
		return fmt.Errorf("run %s: %w", c.Name, err)
	}
	return nil
}
