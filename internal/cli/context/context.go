// Package context implements the command "copse context": the context that an assistant gets, for a
// person to read.
package context

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/cli/output"
	"github.com/copse-dev/copse/internal/cli/progress"
	"github.com/copse-dev/copse/internal/foreign"
	"github.com/copse-dev/copse/internal/item/claim"
	"github.com/copse-dev/copse/internal/item/storage"
	"github.com/copse-dev/copse/internal/regular"
	"github.com/copse-dev/copse/internal/wiring/full"
	"github.com/copse-dev/copse/internal/workflow/projectcontext"
	"github.com/copse-dev/copse/internal/workflow/projectcontext/since"
	"github.com/copse-dev/copse/internal/workflow/projectcontext/wording"
)

// options are the flags.
type options struct {
	repo      string
	sections  []string
	maxTokens int
	fresh     bool
	since     string
	asJSON    bool
}

// Command returns "copse context".
func Command(env app.Env) *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:   "context",
		Short: "Show the context that an assistant gets",
		Long: `Show the context of your work: branch and stack with issues and pull requests, work items,
changes, the last task, failing containers, tasks, recent commits, and files. The tool
get_project_context gives an assistant the same Markdown text. At a terminal, long lines are
wrapped.

copse shows the last answers of GitHub and Jira with their age. It sends requests only with
--fresh.

The last line has a token. With --since TOKEN, the command shows only what changed since then:
"new:" marks new lines, "now:" changed lines, and "gone:" lines that no longer exist.`,
		Example: `  copse context
  copse context --fresh --sections stack
  copse context --max-tokens 8000
  copse context --since c1abcdefg
  copse context --json`,
		Args: app.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return run(cmd.Context(), env, o) },
	}
	f := cmd.Flags()
	f.StringVar(&o.repo, "repo", "", "the `path` of the project (default: the one that contains the current directory)")
	f.StringSliceVar(&o.sections, "sections", nil, "show only these `sections`, separated by commas: "+strings.Join(projectcontext.Names(), ", "))
	f.IntVar(&o.maxTokens, "max-tokens", projectcontext.DefaultTokens, "cut the sections to this `number` of tokens of four bytes")
	f.BoolVar(&o.fresh, "fresh", false, "request new answers from GitHub and Jira")
	f.StringVar(&o.since, "since", "", "show only what changed since the answer with this `token`")
	output.JSONFlag[view](cmd, &o.asJSON)
	if err := cmd.RegisterFlagCompletionFunc("sections", cobra.FixedCompletions(projectcontext.Names(), cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err) // the flag is defined above
	}
	return cmd
}

const minTokens = 200

func run(ctx context.Context, env app.Env, o options) error {
	for _, name := range o.sections {
		if !slices.Contains(projectcontext.Names(), name) {
			return app.UsageError(fmt.Sprintf("invalid value %q for --sections: use %s", name, strings.Join(projectcontext.Names(), ", ")))
		}
	}
	if o.maxTokens < minTokens {
		return app.UsageError(fmt.Sprintf("invalid value %d for --max-tokens: use %d or more", o.maxTokens, minTokens))
	}
	request := projectcontext.Request{Sections: o.sections, Fresh: o.fresh, Tokens: o.maxTokens}
	var earlier since.Token
	if o.since != "" {
		var err error
		if earlier, err = since.Parse(o.since); err != nil {
			return app.UsageError(fmt.Sprintf("invalid value %q for --since: use the token in the last line of an earlier answer", cleantext.Line(o.since)))
		}
		request = since.Request(request, earlier)
	}
	ws := full.Find(ctx, env, o.repo)
	info, err := os.Stat(ws.Workspace())
	if regular.Unseen(err) {
		return err
	}
	if err != nil || !info.IsDir() {
		return fmt.Errorf("there is no directory %s", foreign.Mention(ws.Workspace()))
	}
	ws.Warn()
	store, tasks := ws.Items(), ws.Tasks()
	defer tasks.Close()
	stop := progress.Show(env, "gathering the context")
	if len(request.Sections) == 0 || slices.Contains(request.Sections, "items") {
		note(ctx, ws, store)
	}
	found, err := ws.Context(store, tasks, ws.Files()).Gather(ctx, request)
	stop()
	if err = errors.Join(err, store.Close()); err != nil {
		return err
	}
	if o.since != "" {
		changes := ws.Memory().Compare(found, earlier)
		if o.asJSON {
			return output.New(env).JSON(difference(found.Root, changes))
		}
		return output.New(env).Fold(changes.Markdown(o.maxTokens))
	}
	token := ws.Memory().Remember(found)
	if o.asJSON {
		return output.New(env).JSON(document(found, token))
	}
	return output.New(env).Fold(since.Markdown(found, token, o.maxTokens))
}

// note lets claims end whose holders have ended, as commands of items do.
func note(ctx context.Context, ws *full.Workspace, store storage.Store) {
	const patience = time.Second // as long as the section about items may take
	ctx, cancel := context.WithTimeout(claim.WithAgent(ctx, ws.Person()), patience)
	defer cancel()
	_ = store.Renew(ctx) // what cannot be noted ends with its lease
}

// view is the JSON form.
type view struct {
	Root     string `json:"root"`
	Sections []part `json:"sections"`
	// Unchanged are names of sections. It is present with --since, whose sections are the changed
	// ones.
	Unchanged []string `json:"unchanged,omitempty"`
	// Token identifies this answer in --since.
	Token string `json:"token"`
}

// part is a section: its lines, or the reason why it has none.
type part struct {
	Name        string   `json:"name"`
	Title       string   `json:"title"`
	Lines       []string `json:"lines"`
	Nothing     string   `json:"nothing,omitempty"`
	Unavailable string   `json:"unavailable,omitempty"`
}

func document(c projectcontext.Context, token since.Token) view {
	v := view{Root: c.Root, Sections: []part{}, Token: token.String()}
	for _, s := range c.Sections {
		one := part{Name: s.Name, Title: s.Title, Nothing: s.Empty, Unavailable: s.Unavailable, Lines: []string{}}
		for _, l := range wording.Lines(s.Content, c.At) {
			one.Lines = append(one.Lines, l.Plain()) // without marks: JSON separates the texts
		}
		v.Sections = append(v.Sections, one)
	}
	return v
}

func difference(root string, c since.Changes) view {
	v := view{Root: root, Sections: []part{}, Unchanged: c.Unchanged, Token: c.Token.String()}
	for _, s := range c.Sections {
		one := part{Name: s.Name, Title: s.Title, Lines: []string{}}
		for _, l := range slices.Concat(s.Head, s.Lines) {
			one.Lines = append(one.Lines, l.Plain())
		}
		v.Sections = append(v.Sections, one)
	}
	return v
}
