package project_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/copse-dev/copse/internal/git/gittest"
	"github.com/copse-dev/copse/internal/project"
	"github.com/copse-dev/copse/internal/rooted/rootedtest"
)

// plain returns the project of a directory that git knows nothing of.
func plain(dir string) *project.Project {
	return project.New(dir, func(context.Context) (project.Repository, error) { return nil, nil })
}

// read reads a file, or says why not.
func read(t testing.TB, p *project.Project, path string, lines project.Lines) string {
	t.Helper()
	text, err := p.Read(t.Context(), path, lines)
	if err != nil {
		return "error: " + err.Error()
	}
	if text.Notice != "" {
		return text.Content + "|" + text.Notice
	}
	return text.Content
}

// list lists a directory in short: its entries, or why not.
func list(t testing.TB, p *project.Project, path string, r project.Range) []string {
	t.Helper()
	listing, err := p.List(t.Context(), path, r)
	if err != nil {
		return []string{"error: " + err.Error()}
	}
	lines := []string{}
	for _, e := range listing.Entries {
		mark := map[project.Type]string{project.Directory: "/", project.Symlink: "@", project.Other: "?"}[e.Type]
		lines = append(lines, e.Path+mark)
	}
	if listing.Total > len(listing.Entries) {
		lines = append(lines, fmt.Sprintf("of %d", listing.Total))
	}
	return append(lines, listing.Warnings...)
}

var shallow = project.Range{Depth: 1, Max: 500}

func TestNothingGetsOut(t *testing.T) {
	t.Parallel()
	root := rootedtest.Project(t)
	p := plain(root)
	for _, path := range rootedtest.Escapes(root) {
		if got := read(t, p, path, project.Lines{}); got != "error: Path outside project root" {
			t.Errorf("read %q: %q", path, got)
		}
		if got := list(t, p, path, shallow); got[0] != "error: Path outside project root" {
			t.Errorf("list %q: %q", path, got)
		}
	}
	if got := read(t, p, filepath.Join(root, "dir", "b.txt"), project.Lines{}); got != "b" {
		t.Errorf("an absolute path inside gives %q", got)
	}
	for path, want := range map[string]string{
		"missing": "error: File not found: missing", strings.Repeat("d/", 30) + "missing": "error: File not found: " + strings.Repeat("d/", 30) + "missing",
		"a b. Note": `error: File not found: "a b. Note"`, "loop1": "error: loop1 is part of a loop of symbolic links",
		"a\x1b[31m\u202e": `error: File not found: "a\x1b[31m\u202e"`,
		"dir":             "error: dir is a directory; list_directory shows it",
		"":                "error: . is a directory; list_directory shows it",
	} {
		if got := read(t, p, path, project.Lines{}); got != want {
			t.Errorf("%q gives %q, want %q", path, got, want)
		}
	}
	if got := list(t, p, "a.txt", shallow)[0]; got != "error: a.txt is not a directory; read_file shows files" {
		t.Errorf("a file is listed: %q", got)
	}
}

// Links are listed as links, and not followed in depth.
func TestLinksAreNotFollowed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	gittest.Write(t, filepath.Join(dir, "real", "x"), "x")
	for link, target := range map[string]string{"link": "real", "real/up": "..", "self": "."} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Skip("no symbolic links here")
		}
	}
	p := plain(dir)
	if diff := cmp.Diff([]string{"real/", "link@", "self@", "real/up@", "real/x"}, list(t, p, ".", project.Range{Depth: 5, Max: 500})); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"link/up@", "link/x"}, list(t, p, "link", shallow)); diff != "" {
		t.Error(diff)
	}
}

// So is a project that is itself a part of a git directory, and no worktree.
func TestProjectInGitDirectory(t *testing.T) {
	t.Parallel()
	g, dir := gittest.New(t), t.TempDir()
	g.Run(dir, "init", "-q", "--bare", ".bare")
	main := g.Init()
	for root, want := range map[string]string{
		filepath.Join(dir, ".bare", "hooks"): "error: Path is inside .git", filepath.Join(main, ".git", "deep", "info"): "error: Path is inside .git",
		filepath.Join(dir, ".bare", "worktree"): "x", filepath.Join(main, "src"): "x", filepath.Join(dir, "src"): "x",
	} {
		gittest.Write(t, filepath.Join(root, "x"), "x")
		if filepath.Base(root) == "worktree" {
			gittest.Write(t, filepath.Join(root, ".git"), "gitdir: elsewhere\n")
		}
		if got := read(t, plain(root), "x", project.Lines{}); got != want {
			t.Errorf("%s: %q, want %q", root, got, want)
		}
	}
}

// So is git's directory with another name, in each layout that has one, and whether or not .git leads there.
func TestGitDirectoryWithAnotherName(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		plant  func(g *gittest.Git, dir string)
		closed []string
		open   []string
	}{
		"a container": {func(g *gittest.Git, dir string) {
			from := g.Init()
			g.Commit(from, "first")
			g.Run(dir, "clone", "-q", "--bare", from, ".bare")
			g.Run(filepath.Join(dir, ".bare"), "worktree", "add", "-q", "-b", "topic", "../main")
			gittest.Write(t, filepath.Join(dir, "main", "x"), "x")
		}, []string{".bare", ".bare/config", "./main/../.bare/config", ".bare/worktrees/main/HEAD", ".bare/missing"}, []string{"main/x"}},
		"a bare repository": {func(g *gittest.Git, dir string) {
			from := g.Init()
			g.Commit(from, "first")
			g.Run(dir, "clone", "-q", "--bare", from, ".")
			g.Run(dir, "worktree", "add", "-q", "-b", "topic", "main")
			gittest.Write(t, filepath.Join(dir, "main", "deep", "x"), "x")
		}, []string{".", "config", "hooks", "worktrees/main/HEAD"}, []string{"main/deep/x"}},
		"a separate directory": {func(g *gittest.Git, dir string) {
			gittest.Write(t, filepath.Join(dir, "deep", "x"), "x")
			g.Run(dir, "init", "-q", "--separate-git-dir", "deep/subgit", "sub")
			gittest.Write(t, filepath.Join(dir, "sub", "x"), "x")
		}, []string{"deep/subgit", "deep/subgit/config"}, []string{"sub/x", "deep/x"}},
		"a directory of a worktree": {func(g *gittest.Git, dir string) {
			main := g.Init()
			g.Commit(main, "first")
			g.Run(main, "worktree", "add", "-q", "-b", "topic", filepath.Join(dir, "topic"))
			if err := os.Rename(filepath.Join(main, ".git", "worktrees", "topic"), filepath.Join(dir, "private")); err != nil {
				t.Fatal(err)
			}
			gittest.Write(t, filepath.Join(dir, "topic", "x"), "x")
		}, []string{"private/HEAD", "private"}, []string{"topic/x"}},
		"tracked files with these names": {func(g *gittest.Git, dir string) {
			g.Run(dir, "init", "-q")
			for _, file := range []string{"HEAD", "objects/x", "refs/x", "src/HEAD", "src/commondir", "src/deep/x"} {
				gittest.Write(t, filepath.Join(dir, filepath.FromSlash(file)), "x")
			}
			g.Run(dir, "add", ".")
			gittest.Write(t, filepath.Join(dir, "src", "config"), "secret")
			gittest.Write(t, filepath.Join(dir, "refs", "config"), "secret")
		}, []string{".git/config", "src/config", "refs/config"}, []string{"HEAD", "objects/x", "src/HEAD", "src/deep/x"}},
		"a .git in it": {func(g *gittest.Git, dir string) {
			g.Run(dir, "init", "-q", "--bare", "repo.git")
			gittest.Write(t, filepath.Join(dir, "repo.git", ".git"), "gitdir: .\n")
			gittest.Write(t, filepath.Join(dir, "x"), "x")
		}, []string{"repo.git/config", "repo.git/.git", "repo.git"}, []string{"x"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g, dir := gittest.New(t), t.TempDir()
			c.plant(g, dir)
			p := open(t, g, dir)
			for i, path := range c.closed {
				names := []string{path, filepath.Join(dir, filepath.FromSlash(path))}
				link := fmt.Sprint("link-", i)
				err := os.Symlink(filepath.FromSlash(path), filepath.Join(dir, link))
				if _, missing := os.Stat(filepath.Join(dir, link)); err == nil && missing == nil {
					names = append(names, link)
				}
				for _, name := range names {
					if got := read(t, p, name, project.Lines{}); got != "error: Path is inside .git" {
						t.Errorf("%s: %q", name, got)
					}
					if got := list(t, p, name, shallow)[0]; got != "error: Path is inside .git" {
						t.Errorf("%s: %q", name, got)
					}
				}
				if err := os.RemoveAll(filepath.Join(dir, link)); err != nil {
					t.Error(err)
				}
			}
			for _, path := range c.open {
				if got := read(t, p, path, project.Lines{}); got != "x" {
					t.Errorf("%s: %q", path, got)
				}
			}
			for _, shown := range list(t, p, "", project.Range{Depth: 5, Max: 500}) {
				if strings.Contains(shown, "config") || strings.Contains(shown, "hooks") {
					t.Errorf("%s is listed", shown)
				}
			}
		})
	}
}

func TestGitIsClosed(t *testing.T) {
	t.Parallel()
	g := gittest.New(t)
	dir := g.Init()
	gittest.Write(t, filepath.Join(dir, "sub", ".git", "config"), "secret")
	for link, target := range map[string]string{"to-git": ".git", "to-config": ".git/config", "chain": "to-git"} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Skip("no symbolic links here")
		}
	}
	p := open(t, g, dir)
	for _, path := range []string{
		".git", ".git/", ".git/config", "./.git/HEAD", filepath.Join(dir, ".git", "HEAD"), "sub/.git/config", ".GIT/config", ".git./config",
		".git::$INDEX_ALLOCATION/config", "git~1/config", ".g\u200cit/config", "to-git/config", "to-config", "chain/HEAD", ".git/missing",
	} {
		for _, got := range []string{read(t, p, path, project.Lines{}), list(t, p, path, shallow)[0]} {
			if got != "error: Path is inside .git" {
				t.Errorf("%s: %q", path, got)
			}
		}
	}
	if diff := cmp.Diff([]string{"sub/", "chain@", "to-config@", "to-git@"}, list(t, p, "", project.Range{Depth: 3, Max: 10})); diff != "" {
		t.Error(diff)
	}
	gittest.Write(t, filepath.Join(dir, ".gitignore"), "x")
	gittest.Write(t, filepath.Join(dir, ".github", "x.yml"), "y")
	if got := read(t, p, ".gitignore", project.Lines{}) + read(t, p, ".github/x.yml", project.Lines{}); got != "xy" {
		t.Errorf("got %q", got)
	}
}

func TestRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	numbered := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "line %d\n", i+1)
		}
		return b.String()
	}
	long := strings.Repeat("é", 200_000)
	for name, content := range map[string]string{
		"three": "a\nb\nc\n", "open": "a\nb", "crlf": "a\r\nb\r\n", "empty": "", "newline": "\n", "many": numbered(50_000), "long": "x" + long, "then-long": "a\n" + long + "\nb\n",
		"binary": "abc\x00def", "later": strings.Repeat("a\n", 5000) + "\x00", "png": "\x89PNG\r\n\x1a\n\x00\x00", "latin": "caf\xe9\n", "utf16": "\xff\xfea\x00b\x00", "pdf": "%PDF-1.4\n\xe2\xe3",
		"bom": "\ufeffa\n",
	} {
		gittest.Write(t, filepath.Join(dir, name), content)
	}
	p := plain(dir)
	type lines = project.Lines
	for _, tt := range []struct {
		name  string
		lines lines
		want  string
	}{
		{"three", lines{}, "a\nb\nc\n"},
		{"three", lines{From: 2}, "b\nc\n|… lines 2 to 3 of 3 shown, the last ones"},
		{"three", lines{Max: 2}, "a\nb\n|… 2 of 3 lines shown; continue with offset=3"},
		{"three", lines{From: 2, Max: 1}, "b\n|… 1 of 3 lines shown; continue with offset=3"},
		{"three", lines{From: 3, Max: 9}, "c\n|… lines 3 to 3 of 3 shown, the last ones"},
		{"three", lines{From: 4}, "error: three has 3 lines; offset is 4: use a smaller one"},
		{"three", lines{Max: 3}, "a\nb\nc\n"},
		{"open", lines{}, "a\nb"},
		{"open", lines{Max: 1}, "a\n|… 1 of 2 lines shown; continue with offset=2"},
		{"crlf", lines{}, "a\r\nb\r\n"},
		{"empty", lines{}, "|The file is empty."},
		{"newline", lines{}, "\n"},
		{"bom", lines{}, "\ufeffa\n"},
		{"binary", lines{}, "error: binary is a binary file of 7 bytes"},
		{"later", lines{}, "error: later is a binary file of 10001 bytes"},
		{"later", lines{Max: 1}, "a\n|… 1 of 5001 lines shown; continue with offset=2"},
		{"png", lines{}, "error: png is a binary file (image/png) of 10 bytes"},
		{"pdf", lines{}, "error: pdf is a binary file (application/pdf) of 11 bytes"},
		{"latin", lines{}, "error: latin is not UTF-8 text of 5 bytes"},
		{"utf16", lines{}, "error: utf16 is UTF-16 text; only UTF-8 is supported of 6 bytes"},
		{"long", lines{}, "x" + long[:2*131071] + "|… line 1: bytes 1 to 262143 of 400001 shown; continue it with offset=1, column=262144"},
		{"then-long", lines{}, "a\n|… 1 of 3 lines shown; continue with offset=2"},
		{"then-long", lines{From: 2}, long[:2*131072] + "|… line 2: bytes 1 to 262144 of 400001 shown; continue it with offset=2, column=262145\n… 1 of 3 lines shown; continue with offset=3"},
		{"then-long", lines{From: 2, Column: 262145, Max: 1}, long[2*131072:] + "\n|… 1 of 3 lines shown; continue with offset=3"},
		{"then-long", lines{From: 2, Column: 262144, Max: 1}, long[2*131072:] + "\n|… 1 of 3 lines shown; continue with offset=3"},
		{"then-long", lines{From: 2, Column: 400002}, "error: then-long has 400001 bytes in line 2; column is 400002: use a smaller one"},
		{"three", lines{From: 2, Column: 2}, "\nc\n|… lines 2 to 3 of 3 shown, the last ones"},
	} {
		if got := read(t, p, tt.name, tt.lines); got != tt.want {
			t.Errorf("%s %v: %.200q, want %.200q", tt.name, tt.lines, got, tt.want)
		}
	}
	// All pages together are the file.
	var all strings.Builder
	for from := 1; ; {
		text, err := p.Read(t.Context(), "many", lines{From: from})
		if err != nil {
			t.Fatal(err)
		}
		if len(text.Content) > project.MaxText {
			t.Fatalf("%d bytes", len(text.Content))
		}
		all.WriteString(text.Content)
		if _, err := fmt.Sscanf(text.Notice[strings.LastIndex(text.Notice, ";")+1:], " continue with offset=%d", &from); err != nil {
			break
		}
	}
	if all.String() != numbered(50_000) {
		t.Error("the pages are not the file")
	}
}

// A file of ten gigabytes costs what is shown of it.
func TestHugeFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "huge")
	gittest.Write(t, path, "first\nsecond\n"+strings.Repeat("more\n", 200))
	if err := os.Truncate(path, 10<<30); err != nil {
		t.Skip("no sparse files here")
	}
	p := plain(dir)
	if got := read(t, p, "huge", project.Lines{Max: 2}); got != "first\nsecond\n|… lines 1 to 2 shown of a file of 10737418240 bytes; continue with offset=3" {
		t.Errorf("got %q", got)
	}
	if got := read(t, p, "huge", project.Lines{From: 203}); got != "error: huge is a binary file of 10737418240 bytes" {
		t.Errorf("got %.100q", got)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := p.Read(ctx, "huge", project.Lines{From: 1 << 40}); err == nil {
		t.Error("it has so many lines")
	}
	// Nor is the file read to its end to find a line or a column.
	for _, far := range []project.Lines{{From: 1 << 40}, {From: 203, Column: 1 << 40}} {
		if got := read(t, p, "huge", far); !strings.HasPrefix(got, "error: huge has more than 268435456 bytes before line") {
			t.Errorf("%+v: got %q", far, got)
		}
	}
}

func TestList(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"b/x/deep/d", "b/a", "a.txt", "Z", ".env", "c/y", ".gitignore", "skip/s"} {
		gittest.Write(t, filepath.Join(dir, name), "skip\n")
	}
	p := plain(dir)
	for _, tt := range []struct {
		path string
		r    project.Range
		want []string
	}{
		{".", shallow, []string{"b/", "c/", ".env", ".gitignore", "Z", "a.txt"}},
		{"", project.Range{Depth: 2, Max: 7}, []string{"b/", "c/", ".env", ".gitignore", "Z", "a.txt", "b/x/", "of 9"}},
		{"b", project.Range{Depth: 5, Max: 50}, []string{"b/x/", "b/a", "b/x/deep/", "b/x/deep/d"}},
		{"b/x/../", shallow, []string{"b/x/", "b/a"}},
		{"skip", shallow, []string{"git ignores this directory; only its tracked files are listed (1 entry in all)"}},
		{"nowhere", shallow, []string{"error: File not found: nowhere"}},
	} {
		if diff := cmp.Diff(tt.want, list(t, p, tt.path, tt.r)); diff != "" {
			t.Errorf("%s: %s", tt.path, diff)
		}
	}
	// What changes counts at once.
	gittest.Write(t, filepath.Join(dir, ".gitignore"), "Z\n")
	if diff := cmp.Diff([]string{"b/", "c/", "skip/", ".env", ".gitignore", "a.txt"}, list(t, p, ".", shallow)); diff != "" {
		t.Error(diff)
	}
	if runtime.GOOS == "windows" {
		return
	}
	// Another directory at the same place is another project.
	if err := os.Rename(dir, dir+"-moved"); err != nil {
		t.Fatal(err)
	}
	if got := list(t, p, ".", shallow)[0]; !strings.Contains(got, "can no longer be read") || strings.Contains(got, dir) {
		t.Errorf("without the folder: %q", got)
	}
	gittest.Write(t, filepath.Join(dir, "new"), "")
	if diff := cmp.Diff([]string{"new"}, list(t, p, ".", shallow)); diff != "" {
		t.Error(diff)
	}
}

func TestCancelled(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	gittest.Write(t, filepath.Join(dir, "a", "b"), "")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := plain(dir).List(ctx, ".", project.Range{Depth: 2, Max: 5}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// A directory that is swapped for a link to the outside while it is read gives nothing from there.
func TestSwap(t *testing.T) {
	t.Parallel()
	root := rootedtest.Project(t)
	p := plain(root)
	inside, outside, at := filepath.Join(root, "real"), filepath.Join(filepath.Dir(root), "outside"), filepath.Join(root, "swap")
	gittest.Write(t, filepath.Join(inside, "b.txt"), "b")
	stop := make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			if i%2 == 0 {
				_ = os.Rename(inside, at)
				_ = os.Rename(at, inside)
				continue
			}
			_ = os.Symlink(outside, at)
			_ = os.Remove(at)
		}
	}()
	for range 3000 {
		if got := read(t, p, "swap/b.txt", project.Lines{}); strings.Contains(got, rootedtest.Secret) {
			t.Fatalf("read %q", got)
		}
		for _, line := range list(t, p, "swap", project.Range{Depth: 3, Max: 10}) {
			if !strings.HasPrefix(line, "error: ") && line != "swap/b.txt" {
				t.Fatalf("listed %q", line)
			}
		}
	}
	close(stop)
	<-done
}

func FuzzPath(f *testing.F) {
	root := rootedtest.Project(f)
	gittest.Write(f, filepath.Join(root, ".git", "config"), rootedtest.Secret)
	p := plain(root)
	for _, s := range append(rootedtest.Escapes("ROOT"), ".git/config", "inner/../.git/config", "self/.git", "dir/b.txt", "") {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, path string) {
		path = strings.ReplaceAll(path, "ROOT", root)
		got := read(t, p, path, project.Lines{}) + strings.Join(list(t, p, path, project.Range{Depth: 2, Max: 100}), " ")
		if strings.Contains(got, rootedtest.Secret) || strings.Contains(got, "secret.txt ") {
			t.Errorf("%q gives %q", path, got)
		}
	})
}
