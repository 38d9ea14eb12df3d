package git

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/copse-dev/copse/internal/git/gitconfig"
)

func TestParseGitfile(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"gitdir: ../x\n": "../x", "gitdir: /a b \r\n": "/a b ", "gitdir: x": "x",
		"gitdir:x\n": "", "gitdir: \n": "", "Gitdir: x\n": "", "": "", "gitdir: a\x00b\n": "",
	} {
		got, ok := parseGitfile(text)
		if ok != (want != "") || ok && got != want {
			t.Errorf("parseGitfile(%q) = %q, %v; want %q", text, got, ok, want)
		}
	}
}

func TestSoundHead(t *testing.T) {
	t.Parallel()
	hash := strings.Repeat("0123456789abcdefABCD", 2)
	for text, want := range map[string]bool{
		"ref: refs/heads/main\n": true, "ref:refs/x": true, "ref:\t refs/heads/.invalid\n": true,
		hash: true, hash + "\n": true, hash + strings.Repeat("0", 24): true,
		"": false, "ref: main\n": false, "ref:": false, hash[1:]: false, "x" + hash[1:]: false,
	} {
		if got := soundHead(text); got != want {
			t.Errorf("soundHead(%q) = %v, want %v", text, got, want)
		}
	}
}

// Before git 2.36 the list had lines and no NULs.
func TestParseWorktreesOfOldGit(t *testing.T) {
	t.Parallel()
	const out = "worktree /repo.git\nbare\n\n" +
		"worktree /with space\nHEAD 0123456789012345678901234567890123456789\nbranch refs/heads/a/b\nlocked some reason\n\n" +
		"worktree /x\nHEAD 0000000000000000000000000000000000000000\ndetached\nlocked\nprunable gitdir file points to non-existent location\n\n"
	want := []Worktree{
		{Name: "repo.git", Path: "/repo.git", Bare: true},
		{Name: "with space", Path: "/with space", Branch: "a/b", Head: "0123456789012345678901234567890123456789", Locked: true},
		{Name: "x", Path: "/x", Detached: true, Locked: true, Prunable: true},
	}
	for _, separator := range []string{"\n", "\x00"} {
		got := parseWorktrees([]byte(strings.ReplaceAll(out, "\n", separator)), separator)
		for i := range got {
			got[i].Path = strings.ReplaceAll(got[i].Path, `\`, "/")
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("separator %q (-want +got):\n%s", separator, diff)
		}
	}
}

func TestReadFormat(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]format{
		"": {hashLen: 40},
		"[core]\nrepositoryformatversion = 0\n[extensions]\nworktreeConfig = true\nunknown = x\n":                                                   {hashLen: 40, worktreeConfig: true},
		"[core]\nrepositoryformatversion = 1\n[extensions]\nworktreeConfig = 0\nnoop\n":                                                             {hashLen: 40},
		"[core]\nrepositoryformatversion = 1\n[extensions]\nobjectFormat = sha256\n":                                                                {hashLen: 64},
		"[core]\nrepositoryformatversion = 1\n[extensions]\npartialClone = origin\npreciousObjects\nrefStorage = files\nrelativeWorktrees = true\n": {hashLen: 40},
	} {
		cfg, err := gitconfig.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := readFormat(cfg, "config"); err != nil || got != want {
			t.Errorf("%q: format is %+v, %v; want %+v", text, got, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("gitdir: ../x\n")
	f.Add("ref: refs/heads/main\n")
	f.Add("worktree /x\x00HEAD 12\x00branch refs/heads/x\x00\x00")
	f.Add("worktree\x00worktree")
	f.Add("HEAD\x00\x00refs/heads/")
	f.Add("HEAD\x0012\x00refs/heads/x\nrefs/heads/x\x0012\x00\n")
	f.Fuzz(func(t *testing.T, text string) {
		if path, ok := parseGitfile(text); ok && (path == "" || strings.HasSuffix(path, "\n")) {
			t.Errorf("gitfile %q leads to %q", text, path)
		}
		_ = soundHead(text)
		worktrees := 0
		for line := range strings.SplitSeq(text, "\x00") {
			if line == "worktree" || strings.HasPrefix(line, "worktree ") {
				worktrees++
			}
		}
		if list := parseWorktrees([]byte(text), "\x00"); len(list) != worktrees {
			t.Errorf("%d worktrees in %q, which has %d", len(list), text, worktrees)
		}
		if head, _, found := parseRefs(text); found && head.Detached == (head.Branch != "") {
			t.Errorf("HEAD %+v of %q makes no sense", head, text)
		}
	})
}
