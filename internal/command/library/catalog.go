package library

import (
	"sync"

	"github.com/copse-dev/copse/internal/command"
	"github.com/copse-dev/copse/internal/command/ranking"
)

// Catalog is the commands of an agent. It is immutable and safe for concurrent use.
type Catalog struct {
	*command.Registry

	// Path is the file, from the workspace ("~/…": from the home directory), with slashes.
	Path string

	size  int // of the file
	once  sync.Once
	index *ranking.Index
}

// Match is a command that a search found.
type Match struct {
	Command command.Command
	Score   float64 // as in search.Hit
}

// Search returns the commands whose names and descriptions are most similar to query, best match
// first, at most limit.
func (c *Catalog) Search(query string, limit int) []Match {
	c.once.Do(func() {
		texts := make([]string, len(c.Commands))
		for i, command := range c.Commands {
			texts[i] = command.SearchText()
		}
		c.index = ranking.New(texts)
	})
	hits := c.index.Search(query, limit)
	matches := make([]Match, len(hits))
	for i, h := range hits {
		matches[i] = Match{c.Commands[h.Text], h.Score}
	}
	return matches
}
