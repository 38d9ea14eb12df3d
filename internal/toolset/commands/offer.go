package commands

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/command"
	"github.com/copse-dev/copse/internal/command/library"
	"github.com/copse-dev/copse/internal/command/render"
	"github.com/copse-dev/copse/internal/foreign"
	"github.com/copse-dev/copse/internal/toolset"
)

// The amount that clients load at the start of a conversation, before anybody needs a command,
// stays small: as many commands as promptBudget bytes describe have their own prompt. The prompt
// find-command leads to the others, and the resource template to every command.
const (
	promptBudget      = 6 << 10
	descriptionLength = 80
	argumentLength    = 60
)

// offerNow returns the prompts of the first commands, the same value until a registry changes.
func (t *Tools) offerNow(context.Context) *toolset.Offer {
	agents, _ := t.library.All() // unreadable registries offer nothing
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.offer == nil || !slices.Equal(agents, t.offered) {
		t.offered, t.offer = agents, t.makeOffer(agents)
	}
	return t.offer
}

func (t *Tools) makeOffer(agents []library.Agent) *toolset.Offer {
	offer := &toolset.Offer{}
	total, left := 0, promptBudget
	for _, agent := range agents {
		total += len(agent.Commands)
		for _, c := range agent.Commands {
			if left <= 0 {
				break
			}
			p := t.prompt(agent.Name, c)
			if left -= size(p); left >= 0 {
				offer.Prompts = append(offer.Prompts, p)
			}
		}
	}
	if total > len(offer.Prompts) {
		offer.Prompts = append(offer.Prompts, t.finder(len(offer.Prompts), total))
	}
	return offer
}

// size returns the approximate size of a prompt in a list in bytes.
func size(p toolset.Prompt) int {
	n := len(`{"name":"","description":"","arguments":[]},`) + len(p.Name) + len(p.Description)
	for _, a := range p.Arguments {
		n += len(`{"name":"","description":""},`) + len(a.Name) + len(a.Description)
	}
	return n
}

// prompt returns a command as a prompt.
func (t *Tools) prompt(agent string, c command.Command) toolset.Prompt {
	name := strings.Join([]string{c.C1, c.C2, c.C3}, "-")
	if agent != library.DefaultAgent {
		name = agent + "-" + name
	}
	p := toolset.Prompt{
		Name: ascii(name), Description: short(c.Description, descriptionLength),
		Get: func(ctx context.Context, args map[string]string) (string, error) {
			out, text, err := t.text(ctx, agent, c.ID, args)
			var notes []string
			if len(out.Missing) > 0 && len(args) > 0 {
				notes = append(notes, foreign.Notice("(Without a value: "+strings.Join(out.Missing, ", ")+")"))
			}
			if out.Hidden != "" {
				notes = append(notes, "(Warning: "+out.Hidden+")")
			}
			for _, note := range notes {
				text += "\n" + note + "\n"
			}
			return text, err
		},
	}
	for _, v := range c.UV {
		p.Arguments = append(p.Arguments, toolset.Argument{Name: cleantext.Line(v.Name), Description: short(v.Description, argumentLength)})
	}
	add := func(wanted bool, name, description string, values ...string) {
		if !wanted {
			return
		}
		a := toolset.Argument{Name: name, Description: description}
		if len(values) > 0 {
			a.Complete = func(_ context.Context, prefix string, _ map[string]string) ([]string, error) {
				return beginning(values, prefix), nil
			}
		}
		p.Arguments = append(p.Arguments, a)
	}
	add(c.Options.Stdin, "input_text", "Text to work on")
	add(c.Options.File, "input_file", "File to work on")
	add(c.Options.Destination, "destination", "Path to write to")
	oneOf := func(values []string) string { return short("One of "+strings.Join(values, ", "), argumentLength) }
	add(len(c.Options.Edition) > 1, "edition", oneOf(c.Options.Edition), c.Options.Edition...)
	add(len(c.Options.Adaptation) > 1, "adaptation", oneOf(c.Options.Adaptation), c.Options.Adaptation...)
	return p
}

// short returns foreign text on one line of at most n characters.
func short(s string, length int) string { return cleantext.Cut(cleantext.Line(s), length) }

// ascii replaces characters that a name must not have.
func ascii(name string) string {
	return strings.Map(func(r rune) rune {
		if r < '!' || r > '~' {
			return '_'
		}
		return r
	}, name)
}

func beginning(values []string, prefix string) []string {
	return slices.DeleteFunc(slices.Clone(values), func(v string) bool { return !strings.HasPrefix(v, prefix) })
}

// text executes a command, and returns its prompt, or the reason why there is none.
func (t *Tools) text(ctx context.Context, agent string, id command.ID, args map[string]string) (ExecuteOut, string, error) {
	options := render.Options{
		Edition: args["edition"], Adaptation: args["adaptation"], InputFile: args["input_file"], Destination: args["destination"],
	}
	for name, value := range args {
		switch name {
		case "edition", "adaptation", "input_file", "destination", "input_text":
		default:
			if value != "" {
				options.Variables = append(options.Variables, render.Value{Name: name, Value: value})
			}
		}
	}
	slices.SortFunc(options.Variables, func(a, b render.Value) int { return cmp.Compare(a.Name, b.Name) })
	out, err := t.Execute(ctx, ExecuteIn{
		Agent: agent, C1: id.C1, C2: id.C2, C3: id.C3, Options: Options{args: options.Args(), inputText: args["input_text"]},
	})
	if err != nil {
		if ctx.Err() != nil {
			return ExecuteOut{}, "", err
		}
		return ExecuteOut{}, absent(id, err), nil
	}
	return out, out.Prompt, nil
}

// absent explains in place of a prompt why there is none.
func absent(id command.ID, err error) string {
	return foreign.Notice(fmt.Sprintf("The prompt %s could not be executed: %s", id, document(err)))
}

// finder returns the prompt for commands without their own.
func (t *Tools) finder(offered, total int) toolset.Prompt {
	return toolset.Prompt{
		Name: "find-command", Title: "Find a prompt",
		Description: fmt.Sprintf("Find and follow one of %d prompts; this list contains only the first %d", total, offered),
		Arguments:   []toolset.Argument{{Name: "query", Description: "The job to do", Required: true}},
		Get: func(ctx context.Context, args map[string]string) (string, error) {
			out, err := t.Search(ctx, SearchIn{Query: args["query"]})
			if err != nil {
				return string(document(err)), nil
			}
			lines := []foreign.Line{
				foreign.Own("Choose the prompt that fits best, describe it with the tool describe, get its instructions with execute, and follow them."),
				{}, foreign.Own("Job: "),
			}
			// These are the words of the person who has picked the prompt.
			lines = append(append(lines, foreign.Quote(args["query"])...), foreign.Line{})
			for _, f := range out.Rows {
				lines = append(lines, foreign.Own("- ").Name(f.C1+" "+f.C2+" "+f.C3).Own(": ").Prose(f.Description))
			}
			if len(out.Rows) == 0 {
				lines = append(lines, foreign.Own("No prompt matches; use the tool search with other words."))
			}
			return foreign.Markdown(lines), nil
		},
	}
}

const markdown = "text/markdown"

// read returns a command's description, and its prompt without values.
func (t *Tools) read(ctx context.Context, agent string, id command.ID) (string, error) {
	_, c, err := t.find(agent, id)
	if err != nil {
		return string(document(err)), nil
	}
	_, prompt, err := t.text(ctx, agent, id, nil)
	if err != nil {
		return "", err
	}
	lines := []foreign.Line{foreign.Own("# ").Name(id.String()), {}}
	if c.Description != "" {
		lines = append(lines, foreign.Own("Description: ").Prose(line(c.Description)), foreign.Line{})
	}
	if c.Usage != "" {
		lines = append(lines, foreign.Own("- usage: ").Prose(line(c.Usage)))
	}
	for _, v := range c.UV {
		lines = append(lines, foreign.Own("- ").Name("uv-"+line(v.Name)).Own(": ").Prose(line(v.Description)))
	}
	for _, list := range []struct {
		name   foreign.Line
		values []string
	}{{foreign.Own("- editions: "), c.Options.Edition}, {foreign.Own("- adaptations: "), c.Options.Adaptation}} {
		if len(list.values) > 0 {
			lines = append(lines, list.name.Name(line(strings.Join(list.values, ", "))))
		}
	}
	lines = append(append(lines, foreign.Own("Instructions, without values:")), foreign.Quote(prompt)...)
	return foreign.Markdown(lines), nil
}

func (t *Tools) template() toolset.Template {
	return toolset.Template{
		URITemplate: "climpt://{agent}/{c1}/{c2}/{c3}", Name: "command", Title: "Prompt", MIMEType: markdown,
		Description: "A prompt: what it is for, its variables, and its instructions",
		Variables: []toolset.Argument{
			{Name: "agent", Description: "The agent.", Complete: func(_ context.Context, prefix string, _ map[string]string) ([]string, error) {
				agents, err := t.library.Agents()
				return beginning(agents, prefix), err
			}},
			t.part("c1", "Domain.", func(id command.ID) string { return id.C1 }),
			t.part("c2", "Action.", func(id command.ID) string { return id.C2 }),
			t.part("c3", "Target.", func(id command.ID) string { return id.C3 }),
		},
		Read: func(ctx context.Context, v map[string]string) (string, error) {
			return t.read(ctx, v["agent"], command.ID{C1: v["c1"], C2: v["c2"], C3: v["c3"]})
		},
	}
}

// part returns a part of a command's name, which completes to the values that match the parts
// chosen so far.
func (t *Tools) part(name, description string, of func(command.ID) string) toolset.Argument {
	return toolset.Argument{
		Name: name, Description: description,
		Complete: func(_ context.Context, prefix string, chosen map[string]string) ([]string, error) {
			catalog, err := t.library.Open(agentOf(chosen["agent"]))
			if err != nil {
				return nil, err
			}
			var values []string
			seen := map[string]bool{}
			for _, c := range catalog.Commands {
				fits := func(part, value string) bool { return part == name || chosen[part] == "" || chosen[part] == value }
				if v := of(c.ID); fits("c1", c.C1) && fits("c2", c.C2) && fits("c3", c.C3) && strings.HasPrefix(v, prefix) && !seen[v] {
					seen[v], values = true, append(values, v)
				}
			}
			return values, nil
		},
	}
}
