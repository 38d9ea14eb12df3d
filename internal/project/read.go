package project

import (
	"context"
	"errors"

	"github.com/copse-dev/copse/internal/project/excerpt"
	"github.com/copse-dev/copse/internal/rooted"
)

// MaxText is the maximum number of displayed bytes of a file.
const MaxText = excerpt.MaxText

// Lines selects lines of a file.
type Lines = excerpt.Lines

// Text is a part of a file.
type Text = excerpt.Text

// Read returns lines of a file. The error is [ErrOutside], [ErrGit], a
// [*NotFoundError] or a [*KindError].
func (p *Project) Read(ctx context.Context, asked string, lines Lines) (Text, error) {
	f, name, err := p.find(ctx, asked)
	if err != nil {
		return Text{}, err
	}
	if _, err := p.real(ctx, f, asked, name); err != nil {
		return Text{}, p.missing(ctx, name, err)
	}
	file, err := f.Open(name)
	if err != nil {
		return Text{}, explain(asked, err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return Text{}, explain(asked, err)
	}
	text, err := excerpt.Read(ctx, file, info.Size(), lines)
	if problem, ok := errors.AsType[*excerpt.Problem](err); ok {
		return Text{}, &KindError{Path: asked, Problem: problem.What, Remedy: problem.Remedy}
	}
	if err != nil {
		return Text{}, explain(asked, rooted.WithoutPath(err))
	}
	return text, nil
}
