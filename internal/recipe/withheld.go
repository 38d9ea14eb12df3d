package recipe

import (
	"slices"
	"strings"

	"github.com/copse-dev/copse/internal/distinct"
	"github.com/copse-dev/copse/internal/xec"
)

// withheld explains that a failed recipe names variables that the user has and that its
// environment, env, has without their credentials, or not at all; "" if there are none.
func (j *Justfile) withheld(env xec.Env, names []string) string {
	var lacking distinct.List[string]
	for _, name := range names {
		if !lacking.Has("$"+name) && slices.ContainsFunc(j.env, func(kv string) bool { return strings.HasPrefix(kv, name+"=") && !slices.Contains(env, kv) }) {
			lacking.Add("$" + name)
		}
	}
	if lacking.Len() == 0 {
		return ""
	}
	return "recipes that an assistant starts do not get the credentials in " + strings.Join(slices.Sorted(slices.Values(lacking.Values())), ", ") +
		"; set tasks.pass_credentials in the user's settings to pass credentials on, or run `copse task run` in a terminal"
}

// unconfirmed explains that just asked a question that nobody answered; "" if the output does not say so.
func (c Call) unconfirmed(output string) string {
	switch {
	case c.Confirmed || !strings.Contains(output, "` was not confirmed"):
		return ""
	case c.Person:
		return "the recipe was not confirmed; run it in a terminal, or with --yes before its name"
	}
	return "the recipe asks for confirmation, which only a person can give: with `copse task run` in a terminal"
}
