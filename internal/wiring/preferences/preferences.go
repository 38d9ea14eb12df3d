// Package preferences finds the settings that count in a place: those of the user, and
// those of the repository.
package preferences

import (
	"context"
	"fmt"
	"io"
	"log/slog"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/settings"
	"github.com/copse-dev/copse/internal/wiring/place"
	"github.com/copse-dev/copse/internal/wiring/where"
)

// Preferences are the settings of a place. Files are read when settings are asked for.
type Preferences struct {
	User       *settings.File[settings.User]
	Repository *settings.File[settings.Repository]
}

// Open returns the settings of a place.
func Open(env app.Env, p where.Place) Preferences {
	file := place.Settings(env)
	return Preferences{User: settings.OpenUser(file), Repository: settings.OpenRepository(p.Workspace(), file)}
}

// Problems returns what is wrong in the two files, one line each.
func (p Preferences) Problems() []string {
	return append(problems(p.User), problems(p.Repository)...)
}

func problems[T settings.User | settings.Repository](f *settings.File[T]) []string {
	if _, err := f.Get(); err != nil {
		return []string{err.Error()}
	}
	var list []string
	for _, w := range f.Warnings() {
		list = append(list, w.String())
	}
	return list
}

// Log logs the problems.
func (p Preferences) Log(ctx context.Context, logger *slog.Logger) {
	for _, problem := range p.Problems() {
		logger.WarnContext(ctx, "settings", "problem", problem)
	}
}

// Warn writes the problems for a person.
func (p Preferences) Warn(stderr io.Writer) {
	for _, problem := range p.Problems() {
		fmt.Fprintf(stderr, "warning: %s\n", problem)
	}
}
