//go:build unix

package recipe_test

import (
	"bytes"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/copse-dev/copse/internal/git/gittest"
	"github.com/copse-dev/copse/internal/recipe"
	"github.com/copse-dev/copse/internal/rooted/rootedtest"
)

// A justfile that never ends is an immediate error, and its recipe can be run afterward.
func TestNamedPipes(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{"justfile": "", "more.just": "import 'more.just'\n", "sub/mod.just": "mod sub\n", "x/justfile": "mod? y 'x'\n"} {
		root := rootedtest.Project(t)
		if text != "" {
			gittest.Write(t, filepath.Join(root, "justfile"), text)
			gittest.Write(t, filepath.Join(root, filepath.Dir(name), "file"), "")
		}
		if err := syscall.Mkfifo(filepath.Join(root, name), 0o600); err != nil {
			t.Fatal(err)
		}
		j := without(t, root, "/home")
		if problem := refused(t, j); problem != "" {
			t.Errorf("%s: %s", name, problem)
		}
		_, err := j.Run(t.Context(), recipe.Call{Name: "a"}, &bytes.Buffer{})
		if err == nil || !strings.Contains(err.Error(), "named pipe") {
			t.Errorf("%s: a task that runs says %v", name, err)
		}
	}
}
