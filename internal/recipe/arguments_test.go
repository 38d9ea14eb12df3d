package recipe_test

import (
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/copse-dev/copse/internal/git/gittest"
	"github.com/copse-dev/copse/internal/recipe"
	"github.com/copse-dev/copse/internal/recipe/running"
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
	for want, arguments := range map[string][]string{
		"argument 2 contains a null byte":                                                 {"a", "a\x00b"},
		"argument 2 has 200000 bytes, and at most 131071 are allowed; write ":             {"a", strings.Repeat("a", 200_000)},
		"the arguments have 131072 bytes together, and at most 131071 are allowed; write": {"a", strings.Repeat("a", 131_071)},
		"there are 1001 arguments, and at most 1000 are allowed; write":                   make([]string, 1001),
	} {
		_, err := j.Run(t.Context(), recipe.Call{Name: "r", Args: arguments}, io.Discard)
		if _, ok := errors.AsType[*recipe.ArgumentsError](err); !ok || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, want %q", err, want)
		}
	}
}

// The records of a run have a limit for its arguments, which readers need: every process of the user
// sees a run whose arguments are as large as they can be.
func TestRecordedArguments(t *testing.T) {
	t.Parallel()
	g := gittest.New(t)
	if _, err := g.Env.LookPath("just"); err != nil {
		need.Skip(t, "just is not installed")
	}
	root, directory := rootedtest.Project(t), t.TempDir()
	gittest.Write(t, filepath.Join(root, "justfile"), "r *x:\n  @true\n")
	j := recipe.New(root, g.Env, recipe.NewJournal(directory, root), recipe.Options{})
	others := recipe.NewJournal(directory, root)
	short := func(args []string) bool {
		text := strings.Join(args, "")
		return len(args) > 1 && len(text) < 5<<10 && strings.HasPrefix(text, "first\x01") && strings.HasSuffix(text, "… and 1 more")
	}
	var seen []running.Task
	call := recipe.Call{
		Name: "r", Args: []string{"first", strings.Repeat("\x01", 100_000), "last"}, Person: true,
		Begun: func(running.Task) { seen = others.Running() },
	}
	if _, err := j.Run(t.Context(), call, io.Discard); err != nil {
		t.Fatal(err)
	}
	if len(seen) != 1 || !short(seen[0].Args) {
		t.Errorf("another process sees %d runs", len(seen))
	}
	if last, ok := others.Last(); !ok || !short(last.Args) {
		t.Errorf("the record of the last run is read: %t, with %d bytes of arguments", ok, len(strings.Join(last.Args, "")))
	}
	if latest := recipe.New(root, g.Env, others, recipe.Options{}).Latest(); len(latest) != 1 || !short(latest[0].Args) {
		t.Errorf("the log has %d runs", len(latest))
	}
	call.Args = call.Args[:2]
	if _, err := j.Run(t.Context(), call, io.Discard); err != nil {
		t.Fatal(err)
	}
	if len(seen) != 1 || len(seen[0].Args) != 2 || !strings.HasSuffix(seen[0].Args[1], "\x01…") {
		t.Errorf("with a long last argument, another process sees %d runs", len(seen))
	}
}
