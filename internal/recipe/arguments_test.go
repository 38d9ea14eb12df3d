package recipe_test

import (
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/copse-dev/copse/internal/git/gittest"
	"github.com/copse-dev/copse/internal/recipe"
	"github.com/copse-dev/copse/internal/rooted/rootedtest"
	"github.com/copse-dev/copse/internal/test/need"
)

// An argument that no program can receive is named, with its limit, before the recipe starts.
func TestArgumentsOfPrograms(t *testing.T) {
	t.Parallel()
	g := gittest.New(t)
	if _, err := g.Env.LookPath("just"); err != nil {
		need.Skip(t, "just is not installed")
	}
	root := rootedtest.Project(t)
	gittest.Write(t, filepath.Join(root, "justfile"), "r *x:\n  @true\n")
	j := recipe.New(root, g.Env, recipe.NewJournal("", root), recipe.Options{})
	for want, argument := range map[string]string{
		"argument 2 contains a null byte":                                     "a\x00b",
		"argument 2 has 200000 bytes, and at most 131071 are allowed; write ": strings.Repeat("a", 200_000),
	} {
		_, err := j.Run(t.Context(), recipe.Call{Name: "r", Args: []string{"a", argument}}, io.Discard)
		if _, ok := errors.AsType[*recipe.ArgumentsError](err); !ok || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, want %q", err, want)
		}
	}
}
