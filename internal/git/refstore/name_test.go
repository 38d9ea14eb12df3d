package refstore_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/copse-dev/copse/internal/git/gittest"
	"github.com/copse-dev/copse/internal/git/refstore"
)

func TestValidName(t *testing.T) {
	t.Parallel()
	tests := map[string]bool{
		"refs/heads/main": true, "HEAD": true, "refs/heads/@": true, "a/@/b": true, "a./b": true,
		"refs/heads/ünï ": false, "refs/heads/ünï": true, "refs/heads/\xff": true, "refs/heads/-x": true,
		"refs/heads/a.lockx": true, "refs/heads/HEAD": true, "refs/heads/a@b": true, "a/{": true,
		"": false, "@": false, "/": false, "/a": false, "a/": false, "a//b": false,
		".a": false, "a/.b": false, "a..b": false, "a.": false, "a.lock": false, "a.lock/b": false,
		"a@{b": false, "a b": false, "a~b": false, "a^b": false, "a:b": false, "a?b": false,
		"a*b": false, "a[b": false, `a\b`: false, "a\x7f": false, "a\x01": false, "a\n": false,
	}
	git := gittest.New(t)
	for name, want := range tests {
		if got := refstore.ValidName(name); got != want {
			t.Errorf("ValidName(%q) = %v, want %v", name, got, want)
		}
		if _, err := git.Try(git.Home, "check-ref-format", "--allow-onelevel", name); (err == nil) != want {
			t.Errorf("git's answer for %q is not %v", name, want)
		}
	}
}

func TestValidNameAgreesWithGit(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("each name takes a process")
	}
	git := gittest.New(t)
	pieces := []string{
		"/", ".", "..", "@", "{", "@{", ".lock", "lock", "a", "b", "HEAD", "ü", "-", " ", "~", "^", ":", "?", "*",
		"[", "]", `\`, "\x01", "\x7f", "\t", "\n",
	}
	rapid.Check(t, func(t *rapid.T) {
		name := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 8).Draw(t, "pieces"), "")
		if strings.HasPrefix(name, "-") {
			name = "refs/heads/" + name // it would be an option
		}
		_, err := git.Try(git.Home, "check-ref-format", "--allow-onelevel", name)
		if got, want := refstore.ValidName(name), err == nil; got != want {
			t.Errorf("ValidName(%q) = %v, git says %v", name, got, want)
		}
	})
}
