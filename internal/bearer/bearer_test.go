package bearer_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/copse-dev/copse/internal/bearer"
)

func TestToken(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "deep", "copse", "token")
	f := bearer.New(path)
	first, err := f.Token(t.Context())
	if err != nil || len(first) != len(bearer.Prefix)+32 {
		t.Fatalf("got %q, %v", first, err)
	}
	if again, err := bearer.New(path).Token(t.Context()); err != nil || again != first {
		t.Errorf("got %q, %v", again, err)
	}
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("the file is %v, %v", info.Mode(), err)
	}
	second, err := f.Rotate(t.Context())
	if err != nil || second == first {
		t.Errorf("rotated to %q, %v", second, err)
	}
	if got, err := f.Token(t.Context()); err != nil || got != second {
		t.Errorf("got %q, %v", got, err)
	}
}

// Many processes that begin at the same time have one token.
func TestOneToken(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "token")
	tokens := make([]string, 16)
	var all sync.WaitGroup
	for i := range tokens {
		all.Go(func() {
			var err error
			if tokens[i], err = bearer.New(path).Token(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for _, token := range tokens {
		if token != tokens[0] {
			t.Fatalf("%q and %q", token, tokens[0])
		}
	}
}

func TestExposed(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("files have no such permissions here")
	}
	path := filepath.Join(t.TempDir(), "token")
	for _, mode := range []os.FileMode{0o644, 0o640, 0o604, 0o620} {
		_ = os.Remove(path)
		if err := os.WriteFile(path, []byte("seen\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		if _, err := bearer.New(path).Token(t.Context()); !errors.Is(err, bearer.ErrExposed) {
			t.Errorf("%v: %v", mode, err)
		}
	}
	token, err := bearer.New(path).Rotate(t.Context())
	if err != nil || token == "seen" {
		t.Fatalf("rotated to %q, %v", token, err)
	}
	if got, err := bearer.New(path).Token(t.Context()); err != nil || got != token {
		t.Errorf("got %q, %v", got, err)
	}
	// A link is not followed.
	link := filepath.Join(t.TempDir(), "token")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	if got, err := bearer.New(link).Token(t.Context()); err == nil {
		t.Errorf("got %q through a link", got)
	}
	if fresh, err := bearer.New(link).Rotate(t.Context()); err != nil || fresh == token {
		t.Errorf("rotated to %q, %v", fresh, err)
	}
	if got, err := bearer.New(path).Token(t.Context()); err != nil || got != token {
		t.Errorf("rotating a link changed its target to %q, %v", got, err)
	}
	if info, err := os.Lstat(link); err != nil || !info.Mode().IsRegular() {
		t.Errorf("rotating a link left %v, %v", info, err)
	}
}

// Each server has its own token, and all of them can be replaced at once.
func TestStore(t *testing.T) {
	t.Parallel()
	s := bearer.NewStore(filepath.Join(t.TempDir(), "tokens"))
	if n, err := s.Rotate(t.Context()); n != 0 || err != nil {
		t.Fatal(n, err)
	}
	before := map[string]string{}
	for _, key := range []string{"/a/.git", "/a/.git/worktrees/x", "../../etc/passwd", ""} {
		token, err := s.File(key).Token(t.Context())
		if err != nil || !strings.HasPrefix(token, bearer.Prefix) {
			t.Fatal(token, err)
		}
		for other, known := range before {
			if known == token {
				t.Errorf("%q and %q have one token", key, other)
			}
		}
		before[key] = token
		if filepath.Dir(s.File(key).Path()) != filepath.Dir(s.File("").Path()) {
			t.Errorf("the token of %q is at %s", key, s.File(key).Path())
		}
	}
	if n, err := s.Rotate(t.Context()); n != len(before) || err != nil {
		t.Fatal(n, err)
	}
	for key, old := range before {
		if token, err := s.File(key).Token(t.Context()); err != nil || token == old {
			t.Errorf("%q still has %s, %v", key, token, err)
		}
	}
}
