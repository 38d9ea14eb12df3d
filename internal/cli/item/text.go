package item

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/copse-dev/copse/internal/git/ownpath"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/cli/input"
	"github.com/copse-dev/copse/internal/cli/item/itemcmd"
	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/local"
	"github.com/copse-dev/copse/internal/secret"
	"github.com/copse-dev/copse/internal/xec"
)

// textHelp describes the origin of a description.
const textHelp = `The description comes from --description ("-" reads standard input), from your editor with
--edit ($VISUAL or $EDITOR), or from standard input if it is a file or a pipe. After a second
without input, the command continues without it and reports that.`

// textOptions are the flags that give a long text.
type textOptions struct {
	name string
	text string
	edit bool
}

func (o *textOptions) add(f *pflag.FlagSet, name string) {
	o.name = name
	f.StringVarP(&o.text, name, "d", "", "set the `"+name+"`; - reads it from standard input")
	o.addEdit(f)
}

func (o *textOptions) addEdit(f *pflag.FlagSet) {
	f.BoolVarP(&o.edit, "edit", "e", false, "write the text in your editor")
}

// read returns the text, and whether one was given at all. present is the initial text in an
// editor; wait is the time limit for a silent pipe.
func (o *textOptions) read(ctx context.Context, env app.Env, f *pflag.FlagSet, present string, wait time.Duration) (text string, given bool, err error) {
	switch {
	case o.edit:
		text, err := edit(ctx, env, present)
		return text, err == nil, err
	case o.name != "" && f.Changed(o.name) && o.text != "-":
		return o.text, true, nil
	case o.text == "-":
		text, err := input.Read(env, item.MaxText)
		return text, err == nil, err
	}
	text, err = input.Try(ctx, env, item.MaxText, wait, "--description - waits for input")
	return text, strings.TrimSpace(text) != "", err
}

// edit lets a person write a text.
func edit(ctx context.Context, env app.Env, present string) (string, error) {
	dir, err := os.MkdirTemp("", "tic-")
	if err != nil {
		return "", fmt.Errorf("create a file for the editor: %w", err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "text.md")
	if err := os.WriteFile(path, []byte(present), 0o600); err != nil {
		return "", fmt.Errorf("create a file for the editor: %w", err)
	}
	if err := openEditor(ctx, env, path); err != nil {
		return "", err
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("read the text from the editor: %w", err)
	}
	return string(data), nil
}

// openEditor opens a file in the person's editor and waits for its end.
func openEditor(ctx context.Context, env app.Env, path string) error {
	editor := env.Getenv("VISUAL")
	if editor == "" {
		editor = env.Getenv("EDITOR")
	}
	var c xec.Command
	if env.GOOS == "windows" {
		if editor == "" {
			editor = "notepad"
		}
		words := strings.Fields(editor)
		c = xec.Command{Name: words[0], Args: append(words[1:], path)}
	} else {
		if editor == "" {
			editor = "vi"
		}
		// It can have arguments, and quotes: "code --wait".
		c = xec.Command{Name: "sh", Args: []string{"-c", editor + ` "$@"`, editor, path}}
	}
	c.Dir, c.Env = env.Dir, ownpath.Without(env.Environ, env.Dir)
	err := xec.Interactive(ctx, c, xec.Terminal{Stdin: env.Stdin, Stdout: secret.Raw(env.Stdout), Stderr: secret.Raw(env.Stderr)})
	if exit, ok := errors.AsType[*xec.ExitError](err); ok {
		return fmt.Errorf("editor %q ended with status %d; nothing was changed", editor, exit.Code)
	}
	if err != nil {
		return fmt.Errorf("start editor %q: %w; set $EDITOR", editor, err)
	}
	return nil
}

func (c cli) open() *cobra.Command {
	return &cobra.Command{
		Use:   "open ID",
		Short: "Open an item's file in your editor",
		Long: `Open the file of an item in your editor ($VISUAL or $EDITOR). When you close the editor, copse
checks that it can still read the file.`,
		Example: "  EDITOR=\"code --wait\" " + c.Program + " open 3",
		Args:    app.Args(1, 1, "ID"), ValidArgsFunction: c.CompleteItem,
		RunE: c.RunFiles(func(ctx context.Context, s *local.Store, args []string) error {
			id, err := itemcmd.ParseID(args[0])
			if err != nil {
				return err
			}
			path, err := s.File(ctx, id)
			if err != nil {
				return err
			}
			if err := openEditor(ctx, c.Env, path); err != nil {
				return err
			}
			_, err = s.Item(ctx, id)
			return err
		}),
	}
}
