package hook

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/copse-dev/copse/internal/app"
)

// A new session removes the files of sessions in which nothing happened for a week, and no others.
func TestOldSessions(t *testing.T) {
	t.Parallel()
	env := app.EmptyEnv()
	now := time.Now()
	env.Environ, env.Now = []string{"XDG_STATE_HOME=" + t.TempDir()}, func() time.Time { return now }
	dir := env.StateDir("hooks")
	count := func() int {
		files, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		return len(files)
	}
	for _, session := range []string{"a", "b", "c"} {
		due(env, "gemini", event{Name: "SessionStart", Session: session})
	}
	all := count()
	now = now.Add(6 * 24 * time.Hour)
	due(env, "gemini", event{Name: "SessionStart", Session: "d"})
	if got := count(); got <= all {
		t.Errorf("after six days, %d files of %d are left", got, all)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		if err := os.Chtimes(path, now, now); err != nil {
			t.Fatal(err)
		}
	}
	now = now.Add(8 * 24 * time.Hour)
	due(env, "gemini", event{Name: "SessionStart", Session: "e"})
	if got := count(); got >= all {
		t.Errorf("two weeks later, %d files are left", got)
	}
}
