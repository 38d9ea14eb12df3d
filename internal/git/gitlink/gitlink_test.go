package gitlink_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/copse-dev/copse/internal/git/gitlink"
	"github.com/copse-dev/copse/internal/git/gittest"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"gitdir: ../x\n": "../x", "gitdir: /a b \r\n": "/a b ", "gitdir: x": "x",
		"gitdir:x\n": "", "gitdir: \n": "", "Gitdir: x\n": "", "": "",
		"gitdir: a\x00b\n": "a", "gitdir: a\n\x00": "a\n", "gitdir: \x00": ".", "gitdir: x" + strings.Repeat("\r\n", 500_000): "x",
		"gitdir: " + strings.Repeat("./", gitlink.MaxFile): "",
	} {
		got, ok := gitlink.Parse(text)
		if ok != (want != "") || ok && got != want {
			t.Errorf("Parse(%.20q) = %.20q, %v; want %q", text, got, ok, want)
		}
	}
}

// A repository that git opens is one that copse sees: it would not examine the others.
func TestAsGit(t *testing.T) {
	t.Parallel()
	g := gittest.New(t)
	dir, err := filepath.EvalSymlinks(g.Init("--separate-git-dir", "g"))
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, ".git")
	ends := func(size int) string { return "gitdir: g" + strings.Repeat("\n", size-len("gitdir: g")) }
	for _, text := range []string{
		"gitdir: g", "gitdir: ./g/../g\r\n", "gitdir: g\x00", "gitdir: g\x00/x\n", "gitdir: g\n\x00", "gitdir: g \n", "gitdir:g\n", " gitdir: g\n", "gitdir: \x00g", "gitdir: g\n\ng\n",
		ends(gitlink.MaxFile + 1), ends(gitlink.MaxGitFile), ends(gitlink.MaxGitFile + 1), "gitdir: " + strings.Repeat("./", 100_000) + "g\n", "\x00gitdir: g\n", "",
	} {
		gittest.Write(t, file, text)
		_, err := g.Try(dir, "rev-parse", "--git-dir")
		got, _ := gitlink.GitDir(dir)
		if follows := err == nil; follows != (got == filepath.Join(dir, "g")) {
			t.Errorf("%.30q, %d bytes, leads to %q; git follows it: %t", text, len(text), got, follows)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("gitdir: ../x\n")
	f.Add("gitdir: \n\x00")
	f.Fuzz(func(t *testing.T, text string) {
		// Git removes the ends of lines from the end of the text, and the system reads up to a NUL.
		if path, ok := gitlink.Parse(text); ok && (path == "" || strings.HasSuffix(path, "\n") && !strings.Contains(text, "\x00")) {
			t.Errorf("gitfile %q leads to %q", text, path)
		}
	})
}
