package render_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/copse-dev/copse/internal/command/render"
)

// A profile that is kept is read again when one of its files changes, comes or goes.
func TestProfilesAreKept(t *testing.T) {
	t.Parallel()
	p := project(t)
	p.Profiles = &render.Profiles{}
	config := filepath.Join(p.Path, ".agent", "climpt", "config")
	app, user := filepath.Join(config, "other-app.yml"), filepath.Join(config, "other-user.yml")
	old := time.Now().Add(-time.Hour)
	prompt := func() string {
		t.Helper()
		got, err := render.Render(p, request("other show all", ""))
		if err != nil {
			return err.Error()
		}
		return got.Prompt
	}
	for range 2 {
		if got := prompt(); got != "the other\n" {
			t.Fatalf("got %q", got)
		}
		if err := os.Chtimes(app, old, old); err != nil {
			t.Fatal(err)
		}
	}
	content, err := os.ReadFile(user)
	if err != nil {
		t.Fatal(err)
	}
	// The same size and time, another content.
	if err := os.WriteFile(user, []byte(strings.Replace(string(content), "^all$", "^any$", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(user, old, old); err != nil {
		t.Fatal(err)
	}
	if got := prompt(); !strings.Contains(got, "Invalid layer type. Must match pattern: ^any$") {
		t.Errorf("after a change: %q", got)
	}
	if err := os.Remove(user); err != nil {
		t.Fatal(err)
	}
	if got := prompt(); !strings.Contains(got, "Invalid directive type") {
		t.Errorf("without the file: %q", got)
	}
	if err := os.WriteFile(user, content, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := prompt(); got != "the other\n" {
		t.Errorf("with the file again: %q", got)
	}
}
