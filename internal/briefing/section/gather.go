package section

import (
	"context"

	"github.com/copse-dev/copse/internal/briefing"
)

// DefaultTokens is how long a briefing is unless its reader says otherwise, in tokens
// of four bytes.
const DefaultTokens = 2000

// Sources returns the sources of a project's briefing; fresh ones may ask the network.
type Sources func(fresh bool) []briefing.Source

// Gather collects the sections with these names, all of them if there are no names.
func Gather(ctx context.Context, sources Sources, names []string, fresh bool) (briefing.Briefing, error) {
	return briefing.Gather(Network(ctx, fresh), Choose(sources(fresh), names))
}
