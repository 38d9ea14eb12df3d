// Package briefing puts together what is to be known about a place: sections from
// several sources, as one Markdown text that fits a budget.
//
// Each [Source] looks for one section; [Gather] asks them all at the same time and
// gives each a limit of time. [Briefing.Markdown] writes what they found. It
// guarantees that
//
//   - no section disappears: one that is too long is cut inside and says so, one that
//     could not be learned says why, and one that has nothing to say is named;
//   - where there is too little room, the longest sections are cut first, and down to
//     the same size;
//   - a source that does not answer in time holds up no other, nor the whole;
//   - what others wrote is marked, as package foreign does it.
package briefing

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/copse-dev/copse/internal/foreign"
)

// Source looks for one section.
type Source struct {
	// Name is how the section is asked for, and Title its heading.
	Name, Title string
	// Limit is how long it may take.
	Limit time.Duration
	// Look returns the section. The error can be a [*Nothing].
	Look func(context.Context) (Body, error)
}

// Body is the text of a section, in lines.
type Body struct {
	// Head are lines that are never cut.
	Head  []foreign.Line
	Lines []foreign.Line
	// KeepEnd says that the end of Lines is worth more than their beginning.
	KeepEnd bool
}

// Nothing says that there is nothing to tell, and why: "no justfile".
type Nothing struct{ Why string }

func (n *Nothing) Error() string { return n.Why }

// Section is what became of a source.
type Section struct {
	Name, Title string
	Body        Body
	// Nothing is why there is nothing to tell, Failure why it could not be learned;
	// at most one of them is set.
	Nothing, Failure string
}

// Briefing is the sections in the order of their sources.
type Briefing struct{ Sections []Section }

// Gather asks all sources. The error is that of ctx.
func Gather(ctx context.Context, sources []Source) (Briefing, error) {
	found := make([]Section, len(sources))
	var asking sync.WaitGroup
	for i, s := range sources {
		asking.Go(func() { found[i] = s.ask(ctx) })
	}
	asking.Wait()
	// An interrupted look is none: what is missing would seem unknown.
	return Briefing{Sections: found}, context.Cause(ctx)
}

// answer is what Look returns.
type answer struct {
	body Body
	err  error
}

func (s Source) ask(ctx context.Context) Section {
	ctx, cancel := context.WithTimeout(ctx, s.Limit)
	defer cancel()
	// Not every source looks at its context all the time.
	answers := make(chan answer, 1)
	go func() {
		body, err := s.Look(ctx)
		answers <- answer{body, err}
	}()
	var a answer
	select {
	case a = <-answers:
	case <-ctx.Done():
		select {
		case a = <-answers:
		default:
			a.err = ctx.Err()
		}
	}
	out := Section{Name: s.Name, Title: s.Title, Body: a.body}
	nothing, empty := errors.AsType[*Nothing](a.err)
	switch {
	case a.err == nil:
	case empty:
		out.Nothing = nothing.Why
	case errors.Is(a.err, context.DeadlineExceeded):
		out.Failure = fmt.Sprintf("no answer within %s", s.Limit)
	default:
		out.Failure = a.err.Error()
	}
	return out
}
