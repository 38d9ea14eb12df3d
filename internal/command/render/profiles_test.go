package render_test

import (
	"io/fs"
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

// counted counts how often files are read.
type counted struct {
	render.Files
	reads *int
}

func (c counted) Read(name string, limit int64) ([]byte, error) {
	*c.reads++
	return c.Files.Read(name, limit)
}

// A small template and its profile are read once, and again after a change. What changed a moment
// before it was read is not kept.
func TestTemplatesAreKept(t *testing.T) {
	t.Parallel()
	for name, profiles := range map[string]*render.Profiles{"settled": render.ProfilesAt(time.Now().Add(time.Hour)), "fresh": {}} {
		p := project(t)
		reads := 0
		p.Root, p.Profiles = counted{p.Root, &reads}, profiles
		check := func(want string, wantReads int) {
			t.Helper()
			reads = 0
			got, err := render.Render(p, request("other show all", ""))
			if got.Prompt != want || name == "settled" && reads != wantReads || name == "fresh" && reads < 3 {
				t.Errorf("%s: got %q, %v with %d reads, want %q with %d", name, got.Prompt, err, reads, want, wantReads)
			}
		}
		check("the other\n", 3)
		check("the other\n", 0)
		template := templateOf(t, p.Path, "the other\n")
		if err := os.WriteFile(template, []byte("another one\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		check("another one\n", 1)
		if err := os.Remove(template); err != nil {
			t.Fatal(err)
		}
		if got, err := render.Render(p, request("other show all", "")); err == nil {
			t.Errorf("%s: without the file: %q", name, got.Prompt)
		}
	}
}

// templateOf returns the path of the template with a text.
func templateOf(t *testing.T, dir, text string) (found string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if string(content) == text {
			found = path
		}
		return err
	})
	if err != nil || found == "" {
		t.Fatalf("no template, %v", err)
	}
	return found
}
