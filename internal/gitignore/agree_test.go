package gitignore_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/copse-dev/copse/internal/git/gittest"
	"github.com/copse-dev/copse/internal/gitignore"
	"github.com/copse-dev/copse/internal/xec"
)

// words are what names and patterns are made of, so that they often meet.
var (
	names    = []string{"a", "b", "ab", "A", "foo", "foo.o", "bar.txt", "x y", "é", "#c", "!d", "[e]", "f\\g", " h", "i ", "-", "z]", "7", "_", "a7", "\x01"}
	segments = []string{
		"a", "b", "ab", "A", "foo", "foo.o", "*.o", "*.txt", "*", "**", "?", "a*", "*b", "f?o", "[ab]", "[!a]", "[^b]*", "[a-f]oo",
		"[[:alpha:]]", "[[:upper:]]", "[[:bogus:]]", "[[:space:]]",
		"[[:alnum:]]", "[[:blank:]]*", "[[:cntrl:]]", "[[:digit:]]", "a[[:digit:]]", "[[:graph:]]", "[[:lower:]]", "[[:print:]]", "[[:punct:]]", "[[:xdigit:]]", "[![:digit:]a]", "[]]", "[]-]", "[a", `\#c`, `\!d`, `\[e\]`, `f\\g`, "x y", " h", `i\ `, "i ",
		"é", "*.*", "***", "a**", "**b", "[", `\`, "[A-Z]", "[a-]", "foo*", "[[:]", `[\]]`, "z]", "",
	}
)

func choose(r *rand.Rand, from []string) string { return from[r.IntN(len(from))] }

// line makes a pattern.
func line(r *rand.Rand) string {
	var b strings.Builder
	if r.IntN(5) == 0 {
		b.WriteString("!")
	}
	if r.IntN(4) == 0 {
		b.WriteString("/")
	}
	for i := range 1 + r.IntN(3) {
		if i > 0 {
			b.WriteString("/")
		}
		b.WriteString(choose(r, segments))
	}
	if r.IntN(4) == 0 {
		b.WriteString("/")
	}
	if r.IntN(6) == 0 {
		b.WriteString(choose(r, []string{" ", "  ", "\t", "\r", `\ `, " \r"}))
	}
	return b.String()
}

func patterns(r *rand.Rand) string {
	var b strings.Builder
	if r.IntN(6) == 0 {
		b.WriteString("\ufeff")
	}
	for range 1 + r.IntN(4) {
		b.WriteString(choose(r, []string{"", "", "", "# a comment\n", "\n", "   \n"}))
		b.WriteString(line(r))
		if r.IntN(8) > 0 {
			b.WriteString("\n")
		}
	}
	return b.String()
}

// tree is what a generated repository holds.
type tree struct {
	directories map[string]bool   // every path, and whether it is a directory
	ignore      map[string]string // the .gitignore of a directory
}

func grow(r *rand.Rand, dir string, depth int, t *tree) {
	if depth == 0 || r.IntN(3) == 0 {
		t.ignore[dir] = patterns(r)
	}
	for range 2 + r.IntN(5) {
		path := filepath.Join(dir, choose(r, names))
		if _, there := t.directories[path]; there {
			continue
		}
		t.directories[path] = depth < 4 && r.IntN(2) == 0
		if t.directories[path] {
			grow(r, path, depth+1, t)
		}
	}
}

// TestAgreesWithGit compares whole generated trees.
func TestAgreesWithGit(t *testing.T) {
	t.Parallel()
	rounds := 60
	if testing.Short() {
		rounds = 10
	}
	g := gittest.New(t)
	for round := range rounds {
		seed := uint64(round) //nolint:gosec // a counter
		r := rand.New(rand.NewPCG(seed, 7))
		made := &tree{directories: map[string]bool{}, ignore: map[string]string{}}
		grow(r, ".", 0, made)
		repo := g.Init()
		fold := round%3 == 0
		g.Run(repo, "config", "core.ignorecase", fmt.Sprint(fold))
		exclude, global := patterns(r), patterns(r)
		gittest.Write(t, filepath.Join(repo, ".git", "info", "exclude"), exclude)
		gittest.Write(t, filepath.Join(g.Home, ".config", "git", "ignore"), global)
		var all []string
		for path, directory := range made.directories {
			all = append(all, path)
			if directory {
				if err := os.MkdirAll(filepath.Join(repo, path), 0o700); err != nil {
					t.Fatal(err)
				}
				continue
			}
			gittest.Write(t, filepath.Join(repo, path), "")
		}
		for dir, text := range made.ignore {
			gittest.Write(t, filepath.Join(repo, dir, ".gitignore"), text)
		}

		want := checkIgnore(t, g, repo, all)
		root := gitignore.New(fold, gitignore.Parse([]byte(global)), gitignore.Parse([]byte(exclude)))
		for _, path := range all {
			if got := ignored(root, path, made); got != want[path] {
				t.Errorf("seed %d: %q (folder %t): ignored is %t, git says %t; fold %t\nglobal %q\nexclude %q\n%q",
					seed, path, made.directories[path], got, want[path], fold, global, exclude, made.ignore)
			}
		}
	}
}

// ignored goes down to path.
func ignored(rules gitignore.Rules, path string, t *tree) bool {
	parts := strings.Split(path, "/")
	dir := "."
	for i, part := range parts {
		if text, ok := t.ignore[dir]; ok {
			rules = rules.With(gitignore.Parse([]byte(text)))
		}
		dir = filepath.Join(dir, part)
		if rules.Ignored(part, i < len(parts)-1 || t.directories[path]) {
			return true
		}
		rules = rules.Below(part)
	}
	return false
}

// checkIgnore asks git.
func checkIgnore(t *testing.T, g *gittest.Git, repo string, paths []string) map[string]bool {
	t.Helper()
	res, err := xec.Run(t.Context(), xec.Command{
		Name: "git", Args: []string{"check-ignore", "--no-index", "-z", "--stdin"}, Dir: repo, Env: g.Env,
		Stdin: []byte(strings.Join(paths, "\x00") + "\x00"),
	})
	if exit, ok := errors.AsType[*xec.ExitError](err); err != nil && (!ok || exit.Code != 1) {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for path := range strings.SplitSeq(string(res.Stdout), "\x00") {
		found[path] = true
	}
	return found
}

// TestPatterns are the rules of the manual, one by one.
func TestPatterns(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		patterns, path string
		want           bool
	}{
		{"foo", "foo", true},
		{"foo", "a/foo", true},
		{"/foo", "a/foo", false},
		{"a/foo", "a/foo", true},
		{"a/foo", "b/a/foo", false},
		{"foo/", "foo", false},
		{"foo/", "foo/", true},
		{"foo/", "foo/x", true},
		{"*.o\n!keep.o", "keep.o", false},
		{"*.o\n!keep.o", "other.o", true},
		{"build/\n!build/keep", "build/keep", true},
		{"**/foo", "a/b/foo", true},
		{"**/foo", "foo", true},
		{"abc/**", "abc/x/y", true},
		{"abc/**", "abc/", false},
		{"a/**/b", "a/b", true},
		{"a/**/b", "a/x/y/b", true},
		{"a**b", "axb", true},
		{"x/a**b", "x/a/b", false},
		{"# foo", "# foo", false},
		{`\# foo`, "# foo", true},
		{"foo  ", "foo", true},
		{`foo\ `, "foo ", true},
		{"foo\t", "foo", false},
		{"foo\r\nbar\r\n", "foo", true},
		{"\ufefffoo", "foo", true},
		{"[z-a]", "m", false},
		{"f[!o]o", "fxo", true},
		{"f[!o]o", "foo", false},
		{"", "", false},
	} {
		made := &tree{directories: map[string]bool{}, ignore: map[string]string{".": tt.patterns}}
		path, directory := strings.CutSuffix(tt.path, "/")
		made.directories[path] = directory
		if got := ignored(gitignore.New(false), path, made); got != tt.want {
			t.Errorf("%q ignores %q: %t, want %t", tt.patterns, tt.path, got, tt.want)
		}
	}
}

// TestHostilePattern takes forever for an implementation that tries all ways.
func TestHostilePattern(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("a", 200)
	for _, hostile := range []string{
		strings.Repeat("*a", 60) + "b", strings.Repeat("**/a", 40) + "/b", strings.Repeat("**/*a*", 40) + "b", strings.Repeat("?*", 100) + "b",
	} {
		rules := gitignore.New(false).With(gitignore.Parse([]byte(hostile)))
		for range 1000 {
			if rules.Ignored(text, false) {
				t.Errorf("%q ignores it", hostile)
			}
		}
	}
}

// Git ignores a pattern that is longer than any path, and so does Parse.
func TestLongPattern(t *testing.T) {
	t.Parallel()
	for length, want := range map[int]bool{4096: true, 4097: false} {
		pattern := "[" + strings.Repeat("a", length-2) + "]"
		if got := gitignore.New(false).With(gitignore.Parse([]byte(pattern))).Ignored("a", false); got != want {
			t.Errorf("a pattern of %d bytes: ignored is %t, want %t", length, got, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"foo\n!bar/\n", "[", "**/**/*", "\\", "[[:alpha:]-z]", "a\x00b"} {
		f.Add(s, "a/b/c")
	}
	f.Fuzz(func(t *testing.T, text, path string) {
		rules := gitignore.New(true, gitignore.Parse([]byte(text)))
		for part := range strings.SplitSeq(path, "/") {
			rules.Ignored(part, true)
			rules = rules.Below(part).With(gitignore.Parse([]byte(text)))
		}
	})
}

func BenchmarkIgnored(b *testing.B) {
	rules := gitignore.New(false, gitignore.Parse([]byte("*.swp\n.DS_Store\n"))).
		With(gitignore.Parse([]byte("node_modules/\n*.log\n/dist\n*.o\n*.a\nbuild/\n!build/keep\ncoverage\n.env*\n**/tmp/**\n")))
	rules = rules.Below("src").Below("pkg")
	for b.Loop() {
		rules.Ignored("some_file.go", false)
	}
}
