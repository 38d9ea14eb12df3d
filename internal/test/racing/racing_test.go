package racing_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/copse-dev/copse/internal/test/built"
	"github.com/copse-dev/copse/internal/test/racing"
)

// No read has anything from outside the project while links race with it. The command
// soak does the same many times more often.
func TestRacingLinks(t *testing.T) {
	t.Parallel()
	if os.Symlink("x", filepath.Join(t.TempDir(), "l")) != nil {
		t.Skip("no symbolic links here")
	}
	bin := t.TempDir()
	if err := built.Build(t.Context(), bin+string(filepath.Separator), "github.com/copse-dev/copse/cmd/..."); err != nil {
		t.Fatal(err)
	}
	l, err := racing.New(t.Context(), t.TempDir(), bin)
	if err != nil {
		t.Fatal(err)
	}
	read, refused := 0, 0
	for _, o := range racing.Openers() {
		if !l.Has(o) {
			t.Logf("%s was not read: %s is not installed", o.Name, "just")
			continue
		}
		for _, file := range o.Files {
			out, err := l.Try(t.Context(), o, file, 60)
			if err != nil {
				t.Fatalf("%s, %s swapped: %v", o.Name, file, err)
			}
			if out.Escapes > 0 {
				t.Errorf("%s, %s swapped: %d of %d reads went outside: %s", o.Name, file, out.Escapes, out.Reads, out.Note)
			}
			t.Logf("%s, %s swapped: %+v", o.Name, file, out)
			read, refused = read+out.Read, refused+out.Refused
		}
	}
	if read == 0 || refused == 0 {
		t.Errorf("%d reads had the file and %d an error: nothing raced", read, refused)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}
