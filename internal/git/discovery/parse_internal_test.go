package discovery

import (
	"strings"
	"testing"

	"github.com/copse-dev/copse/internal/git/gitconfig"
)

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

func TestReadFormat(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Format{
		"": {HashLen: 40},
		"[core]\nrepositoryformatversion = 0\n[extensions]\nworktreeConfig = true\nunknown = x\n":                                                   {HashLen: 40, WorktreeConfig: true},
		"[core]\nrepositoryformatversion = 1\n[extensions]\nworktreeConfig = 0\nnoop\n":                                                             {HashLen: 40},
		"[core]\nrepositoryformatversion = 1\n[extensions]\nobjectFormat = sha256\n":                                                                {HashLen: 64},
		"[core]\nrepositoryformatversion = 1\n[extensions]\npartialClone = origin\npreciousObjects\nrefStorage = files\nrelativeWorktrees = true\n": {HashLen: 40},
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
	f.Add("ref: refs/heads/main\n")
	f.Fuzz(func(_ *testing.T, text string) {
		_ = soundHead(text)
	})
}

func TestOwnedBySID(t *testing.T) {
	t.Parallel()
	const me, other = "S-1-5-21-1-2-3-1001", "S-1-5-21-1-2-3-1002"
	for _, c := range []struct {
		owner          string
		elevated, want bool
	}{
		{me, false, true}, {me, true, true}, {other, false, false}, {other, true, false},
		{administrators, false, false}, {administrators, true, true}, {"S-1-1-0", true, false}, {"", true, false},
	} {
		if got := ownedBySID(c.owner, me, c.elevated); got != c.want {
			t.Errorf("a file of %q, elevated %v: %v, want %v", c.owner, c.elevated, got, c.want)
		}
	}
	if ownedBySID("", "", false) {
		t.Error("an unknown account owns a file without an owner")
	}
}
