package gitlink_test

import (
	"strings"
	"testing"

	"github.com/copse-dev/copse/internal/git/gitlink"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"gitdir: ../x\n": "../x", "gitdir: /a b \r\n": "/a b ", "gitdir: x": "x",
		"gitdir:x\n": "", "gitdir: \n": "", "Gitdir: x\n": "", "": "", "gitdir: a\x00b\n": "",
	} {
		got, ok := gitlink.Parse(text)
		if ok != (want != "") || ok && got != want {
			t.Errorf("Parse(%q) = %q, %v; want %q", text, got, ok, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("gitdir: ../x\n")
	f.Fuzz(func(t *testing.T, text string) {
		if path, ok := gitlink.Parse(text); ok && (path == "" || strings.HasSuffix(path, "\n")) {
			t.Errorf("gitfile %q leads to %q", text, path)
		}
	})
}
