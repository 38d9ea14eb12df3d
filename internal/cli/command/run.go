package command

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/cli/input"
	"github.com/copse-dev/copse/internal/command"
	"github.com/copse-dev/copse/internal/command/render"
	"github.com/copse-dev/copse/internal/distinct"
	"github.com/copse-dev/copse/internal/foreign"
	"github.com/copse-dev/copse/internal/suggest"
)

// runOptions are the flags of "copse prompt run".
type runOptions struct {
	options render.Options
	uv      []string
	stdin   bool
}

func (c *cli) run() *cobra.Command {
	var o runOptions
	cmd := &cobra.Command{
		Use:   "run C1 C2 C3",
		Short: "Print a prompt with its variables filled in",
		Long: `Print a prompt with the given values of its variables. If standard input is a file or a pipe,
it is the input text; after a second without input, copse continues without it. Variables without
a value stay as they are, and stderr names them.`,
		Example: "  git diff | copse prompt run git write commit-message --uv style=short",
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
				if text, err = input.Try(cmd.Context(), c.env, render.MaxInput, input.Patience, "--no-input skips the wait"); err != nil {
					return err
				}
			}
			res, err := run.Run(cmd.Context(), catalog, render.Request{Agent: c.agent, ID: found.ID, Args: o.options.Args(), InputText: text})
			if err != nil {
				return reason(err)
			}
			if len(res.Missing) > 0 {
				c.env.Notef("no value for: %s", strings.Join(sources(res.Missing), ", "))
			}
			for _, name := range unknown(res, found.UV) {
				c.env.Note("warning: " + name)
			}
			if hidden := foreign.HiddenIn(res.Prompt); hidden != "" {
				c.env.Notef("warning: the prompt has control or invisible characters: %s", hidden)
			}
			return c.out().Exact(res.Prompt)
		},
	}
	f := cmd.Flags()
	f.StringVarP(&o.options.Edition, "edition", "e", "", "the `edition`: a template for a kind of input")
	f.StringVarP(&o.options.Adaptation, "adaptation", "a", "", "the `adaptation`: a variant of the edition")
	f.StringVarP(&o.options.InputFile, "input-file", "f", "", "the `path` of the input file")
	f.StringVarP(&o.options.Destination, "destination", "o", "", "the `path` that the result is for")
	f.StringArrayVar(&o.uv, "uv", nil, "set a variable: `name=value`; can be repeated")
	f.BoolVar(&o.stdin, "no-input", false, "ignore standard input")
	app.ExpectFlags(cmd, map[string]string{
		"from": "use --input-file", "input i": "use --edition", "uv-*": "use --uv name=value",
	})
	return cmd
}

// unknown returns a sentence for each given variable that neither the template nor the registry has.
func unknown(res render.Result, declared []command.Variable) []string {
	var has distinct.List[string]
	for _, v := range declared {
		has.Add(v.Name)
	}
	for _, name := range res.Missing {
		if own, ok := strings.CutPrefix(name, "uv-"); ok {
			has.Add(own)
		}
	}
	var texts []string
	for _, name := range res.Unused {
		name = strings.TrimPrefix(name, "uv-")
		if has.Has(name) {
			continue
		}
		text := fmt.Sprintf("the prompt has no variable %q", name)
		if near := suggest.Near(name, has.Values()); len(near) > 0 {
			text += "; did you mean " + foreign.Mention(near...) + "?"
		} else if all := has.Values(); len(all) > 0 {
			text += "; it has " + foreign.Mention(all...)
		}
		texts = append(texts, text)
	}
	return texts
}

// sources returns the names of variables, each with where its value comes from.
func sources(missing []string) []string {
	from := map[string]string{"input_text": "standard input", "input_text_file": "--input-file PATH", "destination_path": "--destination PATH"}
	var named []string
	for _, name := range missing {
		source := from[name]
		if own, ok := strings.CutPrefix(name, "uv-"); ok {
			source = "--uv " + own + "=VALUE"
		}
		if source != "" {
			name += " (" + source + ")"
		}
		named = append(named, name)
	}
	return named
}
