package rooted_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/copse-dev/copse/internal/rooted"
	"github.com/copse-dev/copse/internal/rooted/rootedtest"
)

const secret = rootedtest.Secret

// place opens a directory with files, directories and links, beside something secret.
func place(t testing.TB) (*rooted.Root, string) {
	t.Helper()
	root := rootedtest.Project(t)
	r, err := rooted.Open(root)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return r, root
}

// read does what a user of the package does.
func read(r *rooted.Root, path string) (string, error) {
	name, err := r.Name(path)
	if err != nil {
		return "", err
	}
	data, err := r.Read(name, 1<<20)
	return string(data), err
}

func TestInside(t *testing.T) {
	t.Parallel()
	r, root := place(t)
	for path, want := range map[string]string{
		"a.txt": "a", "./a.txt": "a", "dir/b.txt": "b", "dir//b.txt": "b", "dir/./deep/../b.txt": "b", "dir/deep/c.txt": "c",
		"dir/../a.txt": "a", "inner/b.txt": "b", "to-a": "a", "dir/up": "a", "chain1": "a", "self/self/a.txt": "a", "inner/deep/c.txt": "c",
		filepath.Join(root, "a.txt"): "a", root + "/dir/../a.txt": "a", root + "//a.txt": "a",
		"abs-file": "a", "abs-dir/b.txt": "b", "abs-root/dir/b.txt": "b", "to-abs": "b", "abs-up": "a", "self/abs-root/self/abs-dir/up": "a",
		"many7": "a", "many39": "a",
	} {
		got, err := read(r, path)
		if err != nil || got != want {
			t.Errorf("%q: %q, %v", path, got, err)
		}
	}
}

func TestEscapes(t *testing.T) {
	t.Parallel()
	r, root := place(t)
	list := rootedtest.Escapes(root)
	if len(list) < 200 {
		t.Fatalf("only %d escapes are tried", len(list))
	}
	for _, path := range list {
		if got, err := read(r, path); !errors.Is(err, rooted.ErrOutside) {
			t.Errorf("%q: %q, %v", path, got, err)
		} else if strings.Contains(err.Error(), filepath.Dir(root)) {
			t.Errorf("%q: the error names the folder: %v", path, err)
		}
		if name, err := r.Name(path); err == nil {
			if real, err := r.Real(name); !errors.Is(err, rooted.ErrOutside) {
				t.Errorf("%q is %q", path, real)
			}
			if _, err := r.ReadDir(name); !errors.Is(err, rooted.ErrOutside) {
				t.Errorf("the folder %q: %v", path, err)
			}
			if _, err := r.Stat(name); !errors.Is(err, rooted.ErrOutside) {
				t.Errorf("stat %q: %v", path, err)
			}
		}
	}
}

// Encodings are not decoded: they are odd names of files that do not exist.
func TestOddNames(t *testing.T) {
	t.Parallel()
	r, _ := place(t)
	for _, path := range []string{
		"%2e%2e/secret.txt", "..%2fsecret.txt", "%2e%2e%2fsecret.txt", "..%5csecret.txt", "%252e%252e/secret.txt", "..%c0%afsecret.txt",
		"..\u2215secret.txt", "\u2025/secret.txt", "．．/secret.txt", ".../secret.txt", "....//secret.txt", `dir\b.txt`, "a.txt\x00.png",
		"\x00", "a.txt/", "a.txt/.", "a.txt/b", "dangling", "missing", " a.txt", "a.txt ", "~", "~/secret.txt", "$HOME", "file:///etc/passwd",
		strings.Repeat("a", 5000), "-", "--help", "*", "dir/*", "\xff\xfe",
	} {
		got, err := read(r, path)
		switch {
		case err == nil && got == secret:
			t.Errorf("%q gives %q", path, got)
		case err != nil && !errors.Is(err, fs.ErrNotExist) && runtime.GOOS != "windows": // which has more names that cannot be
			t.Errorf("%q: %v", path, err)
		}
	}
	for _, name := range []string{"missing", "missing/file", "abs-missing", "self/dangling", "\x00", "", "a.txt/b"} {
		for what, err := range map[string]error{"read": second(r.Read(name, 1)), "stat": second(r.Stat(name)), "list": second(r.ReadDir(name)), "real": second(r.Real(name))} {
			if what == "real" && name == "a.txt/b" {
				continue // it is asked for the links only
			}
			if !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s %q: %v", what, name, err)
			}
		}
	}
	for _, name := range []string{"loop1", "many41"} {
		if _, err := read(r, name); !errors.Is(err, rooted.ErrTooManyLinks) {
			t.Errorf("%s gives %v", name, err)
		}
	}
	if _, err := r.Read("a.txt", 1); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

func second[T any](_ T, err error) error { return err }

// An absolute path can lead to the directory through links that the path of Open does not have.
func TestOtherPathOfDirectory(t *testing.T) {
	t.Parallel()
	r, root := place(t)
	outside := t.TempDir()
	if err := os.Symlink(root, filepath.Join(outside, "alias")); err != nil {
		t.Skip("no symbolic links here")
	}
	for path, want := range map[string]string{"alias": ".", "alias/a.txt": "a.txt", "alias/dir/missing": "dir/missing"} {
		if name, err := r.Name(filepath.Join(outside, path)); err != nil || name != want {
			t.Errorf("%q is %q, %v; want %q", path, name, err, want)
		}
	}
	for _, path := range []string{"", "a.txt", "alias/../a.txt"} {
		if name, err := r.Name(outside + "/" + path); !errors.Is(err, rooted.ErrOutside) {
			t.Errorf("%q is %q, %v", path, name, err)
		}
	}
}

// Methods that are given a path instead of a name do not get out either.
func TestPathsForNames(t *testing.T) {
	t.Parallel()
	r, root := place(t)
	for _, path := range []string{"../secret.txt", root + "/a.txt", "/a.txt", "dir/../../secret.txt", "missing/../../secret.txt", ".."} {
		for what, err := range map[string]error{
			"read": second(r.Read(path, 100)), "open": second(r.Open(path)), "stat": second(r.Stat(path)), "lstat": second(r.Lstat(path)),
			"list": second(r.ReadDir(path)), "real": second(r.Real(path)),
		} {
			if !errors.Is(err, rooted.ErrOutside) {
				t.Errorf("%s %q: %v", what, path, err)
			}
		}
	}
}

func TestReal(t *testing.T) {
	t.Parallel()
	r, _ := place(t)
	for name, want := range map[string]string{
		".": ".", "a.txt": "a.txt", "dir/deep": "dir/deep", "inner/deep/c.txt": "dir/deep/c.txt", "dir/up": "a.txt", "chain1": "a.txt", "self/self": ".",
		"abs-dir/deep": "dir/deep", "abs-root": ".", "to-abs": "dir/b.txt", "abs-up": "a.txt", "inner/../a.txt": "a.txt",
	} {
		if got, err := r.Real(name); err != nil || got != want {
			t.Errorf("%s is %q, %v; want %q", name, got, err, want)
		}
	}
}

// No name of a git directory can be written, whatever it is called and whatever links lead there.
func TestCheckWrite(t *testing.T) {
	t.Parallel()
	r, root := place(t)
	for _, dir := range []string{".git/hooks", "bare/objects", "bare/refs", "linked"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{"bare/HEAD", "linked/HEAD", "linked/commondir"} {
		if err := os.WriteFile(filepath.Join(root, file), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for link, target := range map[string]string{
		"to-git": ".git", "to-config": ".git/config", "to-new": ".git/new/deeper", "to-bare": "bare", "all": ".", "through": "to-git/hooks",
		"abs-git": filepath.Join(root, ".git"),
	} {
		if err := os.Symlink(target, filepath.Join(root, link)); err != nil {
			t.Skip(err)
		}
	}
	for name, want := range map[string]error{
		".": nil, "a.txt": nil, "new/file": nil, "dir/up": nil, "inner/deep/c.txt": nil, "abs-dir/new": nil, "all/new": nil, ".gitignore": nil,
		".git": rooted.ErrGitDirectory, ".git/hooks/x": rooted.ErrGitDirectory, "new/.GIT/x": rooted.ErrGitDirectory, "sub/git~1/x": rooted.ErrGitDirectory, ".git .:x/y": rooted.ErrGitDirectory, ".git ::$INDEX_ALLOCATION/x": rooted.ErrGitDirectory,
		"to-git/x": rooted.ErrGitDirectory, "to-config": rooted.ErrGitDirectory, "to-new/x": rooted.ErrGitDirectory, "all/.git/x": rooted.ErrGitDirectory,
		"bare": rooted.ErrGitDirectory, "to-bare/config": rooted.ErrGitDirectory, "linked/x": rooted.ErrGitDirectory, "through/x": rooted.ErrGitDirectory,
		"all/all/to-git": rooted.ErrGitDirectory, "abs-git/config": rooted.ErrGitDirectory, "../x": rooted.ErrOutside,
	} {
		if err := r.CheckWrite(name); !errors.Is(err, want) || want == nil && err != nil {
			t.Errorf("%s: %v, want %v", name, err, want)
		}
	}
	wall := rooted.Dir{Wall: filepath.Join(root, ".git"), Name: "hooks"} // copse's own files
	dir, err := wall.OpenToWrite()
	if err != nil {
		t.Fatal(err)
	}
	_ = dir.Close()
}

func TestLstat(t *testing.T) {
	t.Parallel()
	r, _ := place(t)
	for name, want := range map[string]fs.FileMode{
		".": fs.ModeDir, "a.txt": 0, "inner": fs.ModeSymlink, "out-file": fs.ModeSymlink, "abs-root/dir": fs.ModeDir, "abs-root/inner": fs.ModeSymlink, "inner/deep": fs.ModeDir,
	} {
		if info, err := r.Lstat(name); err != nil || info.Mode().Type() != want {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	if _, err := r.Lstat("out-dir/b.txt"); !errors.Is(err, rooted.ErrOutside) {
		t.Errorf("got %v", err)
	}
}

// A Directory and a Look describe the same file as a Root does, through whatever links the name leads, and
// give the same reason if there is none.
func TestDirectoryStat(t *testing.T) {
	t.Parallel()
	r, root := place(t)
	look := rooted.NewLook(rooted.Directory(root))
	names := []string{
		".", "", "a.txt", "a.txt/", "a.txt/b", "dir", "dir/", "dir/.", "dir/b.txt", "dir//b.txt", "dir/../a.txt", "dir/deep/c.txt", "inner/b.txt", "to-a", "dir/up",
		"chain1", "self/a.txt", "abs-file", "abs-root/dir/b.txt", "many39", "missing", "missing/a.txt", "dir/missing", "inner/missing", "dangling", "out-file",
		"out-dir/b.txt", "out-dir/missing", "a\x00b", strings.Repeat("a", 5000), strings.Repeat("d/", 200) + "a",
	}
	for _, name := range append(names, rootedtest.Escapes(root)...) {
		want, wantErr := r.Stat(name)
		for kind, stat := range map[string]func(string) (fs.FileInfo, error){"Directory": rooted.Directory(root).Stat, "Look": look.Stat} {
			got, err := stat(name)
			if fmt.Sprint(err) != fmt.Sprint(wantErr) {
				t.Errorf("%s: %.50q: %v, want %v", kind, name, err, wantErr)
			}
			if err == nil && wantErr == nil && !os.SameFile(got, want) {
				t.Errorf("%s: %.50q: another file", kind, name)
			}
		}
	}
	if _, err := rooted.Directory(filepath.Join(root, "missing")).Stat("a.txt"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

func TestReadDir(t *testing.T) {
	t.Parallel()
	r, _ := place(t)
	list, err := r.ReadDir("dir")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, d := range list {
		names = append(names, fmt.Sprint(d.Name(), " ", d.Type()))
	}
	if diff := cmp.Diff([]string{"b.txt ----------", "deep d---------", "out L---------", "up L---------"}, names); diff != "" {
		t.Error(diff)
	}
	for _, name := range []string{"inner", "abs-dir"} {
		if linked, err := r.ReadDir(name); err != nil || len(linked) != len(list) {
			t.Errorf("%s: %v, %v", name, linked, err)
		}
	}
	for _, d := range list {
		if info, err := d.Info(); err != nil || info.Mode().Type() != d.Type() {
			t.Errorf("%s: %v, %v", d.Name(), info, err)
		}
	}
	if _, err := r.ReadDir("a.txt"); !errors.Is(err, rooted.ErrNotDir) {
		t.Errorf("a file is listed: %v", err)
	}
	if _, err := r.ReadDir("missing"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing folder gives %v", err)
	}
}

func TestLimit(t *testing.T) {
	t.Parallel()
	r, root := place(t)
	if err := os.WriteFile(filepath.Join(root, "ten"), make([]byte, 10), 0o600); err != nil {
		t.Fatal(err)
	}
	if data, err := r.Read("ten", 10); err != nil || len(data) != 10 {
		t.Errorf("%d bytes, %v", len(data), err)
	}
	large, ok := errors.AsType[*rooted.TooLargeError](func() error { _, err := r.Read("ten", 9); return err }())
	if !ok || large.Size != 10 || large.Limit != 9 {
		t.Errorf("got %v", large)
	}
	if err := os.Truncate(filepath.Join(root, "ten"), 1<<40); err != nil {
		t.Skip("no sparse files here")
	}
	if _, err := r.Read("ten", 1<<20); err == nil {
		t.Error("a terabyte was read")
	}
}

func TestDirThatIsMissing(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "missing")
	if _, err := rooted.Open(path); !errors.Is(err, fs.ErrNotExist) || strings.Contains(err.Error(), path) {
		t.Errorf("got %v", err)
	}
	if _, err := rooted.Open("."); err == nil {
		t.Error("a relative folder is opened")
	}
	r, root := place(t)
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{second(r.Read("a.txt", 1)), second(r.Stat("out-file")), second(r.ReadDir("dir"))} {
		if !errors.Is(err, fs.ErrClosed) || strings.Contains(err.Error(), root) {
			t.Errorf("closed: %v", err)
		}
	}
}

// While a directory is swapped for a link to the outside, nothing from there is read.
func TestSwap(t *testing.T) {
	t.Parallel()
	r, root := place(t)
	dir, kept, link := filepath.Join(root, "swap"), filepath.Join(root, "kept"), filepath.Join(root, "link")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "b.txt"), []byte("b"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(filepath.Dir(root), "outside", "more"), nil, 0o600); err != nil {
		t.Fatal(err) // so that a listing tells which directory it is of
	}
	stop, done := make(chan struct{}), make(chan error, 1)
	go func() {
		for {
			select {
			case <-stop:
				done <- nil
				return
			default:
			}
			err := errors.Join(os.Rename(dir, kept), os.Symlink(filepath.Join("..", "outside"), dir))
			runtime.Gosched() // the link stays for as long as the directory
			if err = errors.Join(err, os.Rename(dir, link), os.Rename(kept, dir), os.Remove(link)); err != nil {
				done <- err
				return
			}
		}
	}()
	for range 3000 {
		if got, err := read(r, "swap/b.txt"); err == nil && got != "b" {
			t.Fatalf("read %q", got)
		}
		if list, err := r.ReadDir("swap"); err == nil && len(list) != 1 {
			t.Fatalf("listed %v", list)
		}
	}
	close(stop)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

// Whatever a path is, what is read is from the directory, and errors do not name it.
func FuzzPath(f *testing.F) {
	for _, s := range append(rootedtest.Escapes("ROOT"), "a.txt", "inner/b.txt", "abs-dir/out", "self/self/abs-root/a.txt", "ROOT/dir", "\x00", "./.", strings.Repeat("../", 50), "") {
		f.Add(s)
	}
	r, root := place(f)
	f.Fuzz(func(t *testing.T, path string) {
		path = strings.ReplaceAll(path, "ROOT", root)
		name, err := r.Name(path)
		if err != nil {
			if !errors.Is(err, rooted.ErrOutside) {
				t.Errorf("%q: %v", path, err)
			}
		} else if !filepath.IsLocal(filepath.FromSlash(name)) {
			t.Errorf("%q is called %q", path, name)
		}
		for _, name := range []string{name, path} {
			data, err := r.Read(name, 1<<10)
			if err == nil && !slices.Contains([]string{"a", "b", "c"}, string(data)) {
				t.Errorf("%q: read %q", path, data)
			}
			list, listErr := r.ReadDir(name)
			for _, d := range list {
				if d.Name() == "secret.txt" {
					t.Errorf("%q: listed what is outside", path)
				}
			}
			for _, err := range []error{err, listErr, second(r.Stat(name)), second(r.Lstat(name)), second(r.Real(name))} {
				if err != nil && strings.Contains(err.Error(), root) {
					t.Errorf("%q: %v", path, err)
				}
			}
		}
	})
}

func BenchmarkRead(b *testing.B) {
	r, _ := place(b)
	for _, name := range []string{"dir/deep/c.txt", "inner/deep/c.txt", "abs-dir/deep/c.txt"} {
		b.Run(strings.ReplaceAll(name, "/", "_"), func(b *testing.B) {
			for b.Loop() {
				if _, err := r.Read(name, 100); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// A name that is too deep costs nothing.
func TestTooDeep(t *testing.T) {
	t.Parallel()
	r, _ := place(t)
	name := strings.Repeat("self/", 3000) + "a.txt"
	for _, err := range []error{second(r.Read(name, 1)), second(r.Stat(name)), second(r.ReadDir(name)), second(r.Real(name))} {
		if !errors.Is(err, rooted.ErrTooDeep) {
			t.Errorf("got %v", err)
		}
	}
}
