package session

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/copse-dev/copse/internal/branch/twig"
	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/failure"
	"github.com/copse-dev/copse/internal/foreign"
	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/xec"
)

// Explain converts an error of the repository or of its state to a failure. nil and failures remain
// unchanged.
func Explain(err error) error {
	if err == nil {
		return nil
	}
	if _, done := errors.AsType[*failure.Error](err); done {
		return err
	}
	if unnamed, ok := errors.AsType[*git.UnnamedError](err); ok {
		return &failure.Error{
			Kind: failure.NoRepository, Err: err,
			What: func(w failure.Words) string {
				return fmt.Sprintf("%q looks like a bare repository, which %s uses only if you name it", unnamed.Dir, w.Program)
			},
			Do: func(w failure.Words) string {
				return fmt.Sprintf("Pass `--repo <path>`, or run %s in one of its worktrees.", w.Program)
			},
		}
	}
	var bad *twig.BadStateError
	switch {
	case errors.Is(err, twig.ErrNoState), errors.As(err, &bad):
		return &failure.Error{
			Kind: failure.NoState, Err: err,
			What: failure.Text("Failed to load twig state: " + err.Error()),
			Do: func(w failure.Words) string {
				switch {
				case bad == nil:
					return fmt.Sprintf("Run `%s` in this repository first.", w.Track)
				case errors.Is(err, twig.ErrOutside), errors.Is(err, twig.ErrLink):
					return "" // the error contains it
				}
				return fmt.Sprintf("Correct the file, or move it away and run `%s`.", w.Track)
			},
		}
	case errors.Is(err, git.ErrNotRepository):
		return &failure.Error{
			Kind: failure.NoRepository, Err: err,
			What: func(w failure.Words) string {
				outside, ok := errors.AsType[*git.OutsideError](err)
				switch {
				case ok && w.Person && errors.Is(outside.Unreadable, fs.ErrNotExist):
					return "there is no directory " + foreign.Mention(outside.Dir)
				case ok && w.Person && outside.Unreadable == nil:
					return foreign.Mention(outside.Dir) + " is not in a git repository"
				}
				return w.Program + " was started outside a git repository"
			},
			Do: func(w failure.Words) string {
				if w.Person {
					return "Run the command in a git repository, or name one with `--repo <path>`."
				}
				return fmt.Sprintf("Run %s from within a git repository, or pass `--repo <path>`.", w.Program)
			},
		}
	}
	if broken, ok := errors.AsType[*git.BrokenError](err); ok {
		return &failure.Error{
			Kind: failure.NoRepository, Err: err,
			What: failure.Text(fmt.Sprintf("The git repository cannot be used: %q %s", broken.Path, broken.Problem)),
			Do:   failure.Text("Remedy: " + broken.Remedy + "."),
		}
	}
	if skipped, ok := errors.AsType[*xec.SkippedError](err); ok {
		return &failure.Error{
			Kind: failure.Internal, Err: err,
			What: failure.Text("git is " + cleantext.Line(skipped.Error())),
			Do:   failure.Text("Install git 2.36 or later for your account, too, and add its directory to the PATH."),
		}
	}
	if errors.Is(err, xec.ErrNotInstalled) {
		return &failure.Error{
			Kind: failure.Internal, Err: err,
			What: failure.Text("git is not installed, or not on the PATH"),
			Do:   failure.Text("Install git 2.36 or later, or add its directory to the PATH."),
		}
	}
	// Any other error is a problem of the repository's files, or of the git program.
	return &failure.Error{
		Kind: failure.Internal, Err: err,
		What: failure.Text("The git repository cannot be read: " + cleantext.Line(err.Error())),
		Do:   failure.Text("Check that `git status` works in it."),
	}
}
