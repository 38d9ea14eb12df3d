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
// requests them, so there is no limit.
func (t *Tools) skillsNow(context.Context) []toolset.Skill {
	names, catalogs := t.opened()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.skills == nil || !slices.Equal(catalogs, t.skilled) {
		t.skilled, t.skills = catalogs, t.makeSkills(names, catalogs)
	}
	return t.skills
}

func (t *Tools) makeSkills(agents []string, catalogs []*library.Catalog) []toolset.Skill {
	skills := []toolset.Skill{}
	var names skill.Names
	for i, catalog := range catalogs {
		for _, c := range catalog.Commands {
			words := []string{c.C1, c.C2, c.C3}
			if agents[i] != library.DefaultAgent {
				words = append([]string{agents[i]}, words...)
			}
			skills = append(skills, t.skill(names.Of(words...), agents[i], catalog, c))
		}
	}
	return skills
}

// skill returns a command as a skill. Its text does not depend on its reader, because clients
// compare it with an earlier digest.
func (t *Tools) skill(name, agent string, from *library.Catalog, c command.Command) toolset.Skill {
	return toolset.Skill{
		Name: name, Description: skill.Description(c),
		Read: func(context.Context) (string, error) {
			prompt, err := t.runner.Portable(from, render.Request{Agent: agent, ID: c.ID})
			if err != nil {
				return "", err
			}
			return skill.Document(name, c, prompt), nil
		},
	}
}
