package command

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/cli/input"
	"github.com/copse-dev/copse/internal/command/render"
)

// runOptions are the flags of "copse command run".
type runOptions struct {
	options render.Options
	uv      []string
	stdin   bool
}

func (c *cli) run() *cobra.Command {
	var o runOptions
	cmd := &cobra.Command{
		Use:   "run C1 C2 C3",
		Short: "Print the prompt of a command",
		Long: `Print the prompt of a command, with the given values in it. Standard input is read
as the input text if it is a file or a pipe; one that is silent for a second is left
alone. Variables without a value stay as they are, and are named on stderr.`,
		Example: "  git diff --staged | copse command run git write commit-message --uv style=short",
		Args:    threeWords, ValidArgsFunction: c.complete,
		RunE: func(cmd *cobra.Command, args []string) error {
			catalog, run, found, err := c.find(cmd.Context(), args)
			if err != nil {
				return err
			}
			for _, pair := range o.uv {
				name, value, ok := strings.Cut(pair, "=")
				if !ok {
					return app.UsageError(fmt.Sprintf("invalid value %q for --uv: use name=value", pair))
				}
				o.options.Variables = append(o.options.Variables, render.Value{Name: name, Value: value})
			}
			text := ""
			if found.Options.Stdin && !o.stdin {
				if text, err = input.Try(cmd.Context(), c.env, render.MaxInput, input.Patience, "--no-input does so at once"); err != nil {
					return err
				}
			}
			res, err := run.Run(cmd.Context(), catalog, render.Request{Agent: c.agent, ID: found.ID, Args: o.options.Args(), InputText: text})
			if err != nil {
				return reason(err)
			}
			if len(res.Missing) > 0 {
				c.env.Notef("without a value: %s", strings.Join(res.Missing, ", "))
			}
			_, err = io.WriteString(c.env.Stdout, res.Prompt)
			return err
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.options.Edition, "edition", "", "the `edition` of the template")
	f.StringVar(&o.options.Adaptation, "adaptation", "", "the `adaptation` of the template")
	f.StringVar(&o.options.InputFile, "input-file", "", "the `path` of a file to work on")
	f.StringVar(&o.options.Destination, "destination", "", "the `path` to write to")
	f.StringArrayVar(&o.uv, "uv", nil, "a variable as `name=value`; may be repeated")
	f.BoolVar(&o.stdin, "no-input", false, "do not read standard input")
	return cmd
}
