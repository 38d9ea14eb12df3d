package itemcmd

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/wiring/full"
)

// maxCompletions keeps a shell's list readable.
const maxCompletions = 200

// look reads the project for a completion; without a project, there are no completions.
func (c Base) look(ctx context.Context) (item.Config, *item.Snapshot, bool) {
	store := full.Find(ctx, c.Env, "").Items()
	defer store.Close()
	config, err := store.Config(ctx)
	if err != nil {
		return item.Config{}, nil, false
	}
	snapshot, err := store.Snapshot(ctx)
	return config, snapshot, err == nil
}

// CompleteItem offers numbers with their titles: those of the current iteration
// first.
func (c Base) CompleteItem(cmd *cobra.Command, args []string, prefix string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return c.itemsLike(cmd.Context(), prefix), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}

func (c Base) itemsLike(ctx context.Context, prefix string) []cobra.Completion {
	config, snapshot, ok := c.look(ctx)
	if !ok {
		return nil
	}
	all := snapshot.List(config, item.Filter{All: true})
	slices.SortStableFunc(all, func(a, b *item.Summary) int {
		rank := func(s *item.Summary) int {
			switch {
			case config.Done(s.Status):
				return 2
			case s.Iteration != config.CurrentIteration:
				return 1
			}
			return 0
		}
		return rank(a) - rank(b)
	})
	var list []cobra.Completion
	for _, s := range all {
		if id := s.ID.String(); strings.HasPrefix(id, prefix) && len(list) < maxCompletions {
			list = append(list, cobra.CompletionWithDesc(id, cleantext.Line(s.Title)))
		}
	}
	return list
}

// CompleteDeleted offers the numbers of deleted items with their titles.
func (c Base) CompleteDeleted(cmd *cobra.Command, args []string, prefix string) ([]cobra.Completion, cobra.ShellCompDirective) {
	const how = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	store := full.Find(cmd.Context(), c.Env, "").Items()
	defer store.Close()
	deleted, _, err := store.Deleted(cmd.Context())
	if err != nil {
		return nil, how
	}
	var list []cobra.Completion
	for _, it := range deleted {
		id := it.ID.String()
		if strings.HasPrefix(id, prefix) && !slices.Contains(args, id) && len(list) < maxCompletions {
			list = append(list, cobra.CompletionWithDesc(id, cleantext.Line(it.Title)))
		}
	}
	return list, how
}

// CompleteConfig offers values of the configuration.
func (c Base) CompleteConfig(values func(item.Config) []string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		config, _, ok := c.look(cmd.Context())
		if !ok {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return values(config), cobra.ShellCompDirectiveNoFileComp
	}
}

// CompleteFields offers the possible values of the flags about fields.
func (c Base) CompleteFields(cmd *cobra.Command) {
	used := func(of func(*item.Summary) []string) func(item.Config, *item.Snapshot) []string {
		return func(_ item.Config, s *item.Snapshot) []string {
			var values []string
			for _, it := range s.List(item.Config{}, item.Filter{All: true}) {
				values = append(values, of(it)...)
			}
			slices.Sort(values)
			return slices.DeleteFunc(slices.Compact(values), func(v string) bool { return v == "" })
		}
	}
	for flag, values := range map[string]func(item.Config, *item.Snapshot) []string{
		"type":      func(config item.Config, _ *item.Snapshot) []string { return config.Types },
		"status":    func(config item.Config, _ *item.Snapshot) []string { return config.Statuses },
		"iteration": func(config item.Config, _ *item.Snapshot) []string { return config.Iterations },
		"priority":  func(item.Config, *item.Snapshot) []string { return item.Priorities() },
		"assignee":  used(func(s *item.Summary) []string { return []string{s.Assignee} }),
		"label":     used(func(s *item.Summary) []string { return s.Labels }),
		"labels":    used(func(s *item.Summary) []string { return s.Labels }),
	} {
		if cmd.Flags().Lookup(flag) == nil {
			continue
		}
		complete := func(cmd *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
			config, snapshot, ok := c.look(cmd.Context())
			if !ok {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return values(config, snapshot), cobra.ShellCompDirectiveNoFileComp
		}
		if err := cmd.RegisterFlagCompletionFunc(flag, complete); err != nil { // only if it has one
			panic(err)
		}
	}
	for _, flag := range []string{"parent", "depends-on"} {
		if cmd.Flags().Lookup(flag) == nil {
			continue
		}
		complete := func(cmd *cobra.Command, _ []string, prefix string) ([]cobra.Completion, cobra.ShellCompDirective) {
			return c.itemsLike(cmd.Context(), prefix), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
		}
		if err := cmd.RegisterFlagCompletionFunc(flag, complete); err != nil {
			panic(err)
		}
	}
}
