package commands

import (
	"context"
	"slices"

	"github.com/copse-dev/copse/internal/command"
	"github.com/copse-dev/copse/internal/command/library"
	"github.com/copse-dev/copse/internal/command/render"
	"github.com/copse-dev/copse/internal/command/skill"
	"github.com/copse-dev/copse/internal/toolset"
)

// skillsNow returns all commands as skills. Unlike prompts, they cost a client nothing until it
// requests them, so there is no limit but that of the registries.
func (t *Tools) skillsNow(context.Context) []toolset.Skill {
	agents, _ := t.library.All() // unreadable registries have no skills
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.skills == nil || !slices.Equal(agents, t.skilled) {
		t.skilled, t.skills = agents, t.makeSkills(agents)
	}
	return t.skills
}

func (t *Tools) makeSkills(agents []library.Agent) []toolset.Skill {
	skills := []toolset.Skill{}
	var names skill.Names
	for _, agent := range agents {
		for _, c := range agent.Commands {
			words := []string{c.C1, c.C2, c.C3}
			if agent.Name != library.DefaultAgent {
				words = append([]string{agent.Name}, words...)
			}
			skills = append(skills, t.skill(names.Of(words...), agent, c))
		}
	}
	return skills
}

// skill returns a command as a skill. Its text does not depend on its reader, because clients
// compare it with an earlier digest.
func (t *Tools) skill(name string, agent library.Agent, c command.Command) toolset.Skill {
	return toolset.Skill{
		Name: name, Description: skill.Description(c),
		Read: func(context.Context) (string, error) {
			prompt, err := t.runner.Portable(agent.Catalog, render.Request{Agent: agent.Name, ID: c.ID})
			if err != nil {
				return "", &toolset.ArgumentError{Message: absent(c.ID, explained(agent.Name, c.ID, err))}
			}
			return skill.Document(name, c, prompt), nil
		},
	}
}
