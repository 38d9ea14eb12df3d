package app_test

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/git/gittest"
	"github.com/copse-dev/copse/internal/xec"
)

// Programs that copse looks up do not come from the project in which it was started; recipes of that
// project, and of no other, keep the PATH.
func TestInherit(t *testing.T) {
	t.Parallel()
	g := gittest.New(t)
	base := t.TempDir()
	project, other := filepath.Join(base, "project"), filepath.Join(base, "other")
	for _, dir := range []string{project, other} {
		gittest.Write(t, filepath.Join(dir, "docs", "a.md"), "")
		g.Run(dir, "init", "-q")
	}
	list := string(filepath.ListSeparator)
	given := []string{"HOME=" + g.Home, "PATH=" + filepath.Join(project, "node_modules", ".bin") + list + filepath.Join(other, "bin")}
	kept := []string{"HOME=" + g.Home, "PATH=" + filepath.Join(other, "bin")}
	env := app.Env{Dir: filepath.Join(project, "docs")}
	env.Inherit(given)
	for name, tt := range map[string]struct{ got, want []string }{
		"programs":               {env.Environ, kept},
		"recipes of the project": {env.EnvironIn(project), given},
		"recipes of another":     {env.EnvironIn(other), kept},
	} {
		// The directories that are skipped are in an entry that no program gets.
		if got := xec.Env(tt.got).Without("=COPSE_SKIPPED"); !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %q, want %q", name, got, tt.want)
		}
	}
	env = app.Env{Dir: t.TempDir()}
	env.Inherit(given)
	if !slices.Equal(env.Environ, given) || !slices.Equal(env.EnvironIn(project), given) {
		t.Errorf("outside of projects: got %q", env.Environ)
	}
}
