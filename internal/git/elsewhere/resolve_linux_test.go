package elsewhere_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/copse-dev/copse/internal/git/elsewhere"
)

// A path that leads through /proc is refused, however it gets there and whether or not its target exists. Every other
// path resolves as usual.
func TestResolve(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	err = errors.Join(os.MkdirAll(filepath.Join(dir, "a", "b"), 0o700), os.WriteFile(filepath.Join(dir, "a", "file"), nil, 0o600))
	for name, target := range map[string]string{
		"here": "/proc/self/cwd", "thread": "/proc/thread-self/cwd", "up": "../../../../../../../../../../proc", "chain": "here", "fd": "/dev/fd",
		"in": "/dev/stdin", "root": "/proc/self/root", "ab": "a/b", "above": "ab/..", "loop": "loop", "dead": "none", "full": dir + "/a",
	} {
		err = errors.Join(err, os.Symlink(target, filepath.Join(dir, name)))
	}
	if err != nil {
		t.Fatal(err)
	}
	for path, refused := range map[string]bool{
		"here": true, "here/x": true, "thread/x": true, "up/self/cwd/x": true, "chain": true, "chain/a": true, "fd": true, "fd/99/x": true, "in": true,
		"root": true, "root/etc/passwd": true, "a/../here/x": true, "ab/../../here/x": true, "full/../here": true,
		"/proc/self/cwd/none": true, "/proc/99999999/cwd/x": true, "/proc": true, "/dev/../proc/self/cwd": true, "/dev/fd/../cwd/x": true, "/dev/stdout": true,

		"": false, "a": false, "a/file": false, "a/file/x": false, "a/file/..": false, "ab": false, "ab/..": false, "above/file": false, "loop": false,
		"dead": false, "none": false, "none/proc": false, "full/file": false, "a//b/./": false, "/": false, "/..": false, "/dev/null": false,
	} {
		if !filepath.IsAbs(path) {
			path = dir + "/" + path
		}
		real, err := elsewhere.Resolve("file", path)
		if found, ok := errors.AsType[*elsewhere.Error](err); ok != refused || ok && !found.Process {
			t.Errorf("%s: %q, %v", path, real, err)
		}
		if refused {
			continue
		}
		want, wantErr := filepath.EvalSymlinks(path)
		if real != want || (err == nil) != (wantErr == nil) || os.IsNotExist(err) != os.IsNotExist(wantErr) {
			t.Errorf("%s: %q, %v; want %q, %v", path, real, err, want, wantErr)
		}
	}
}

func BenchmarkResolve(b *testing.B) {
	dir := b.TempDir()
	b.Run("Resolve", func(b *testing.B) {
		for b.Loop() {
			_, _ = elsewhere.Resolve("", dir)
		}
	})
	b.Run("EvalSymlinks", func(b *testing.B) {
		for b.Loop() {
			_, _ = filepath.EvalSymlinks(dir)
		}
	})
}
