package git_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/git/gittest"
	"github.com/copse-dev/copse/internal/xec"
)

func TestRemoteURL(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		config string // of the repository
		global string
		env    []string
		want   string
		none   bool
	}{
		"none":           {none: true},
		"other remote":   {config: "[remote \"Origin\"]\nurl = x\n[remote \"origin2\"]\nurl = y\n", none: true},
		"no URL":         {config: "[remote \"origin\"]\nfetch = x\n", none: true},
		"plain":          {config: "[remote \"origin\"]\nurl = git@github.com:o/r.git\n", want: "git@github.com:o/r.git"},
		"several":        {config: "[remote \"origin\"]\nurl = a\nurl = b\npushurl = c\n", want: "a"},
		"several levels": {config: "[remote \"origin\"]\nurl = b\n", global: "[remote \"origin\"]\nurl = a\n", want: "a"},
		"password":       {config: "[remote \"origin\"]\nurl = https://me:secret@example.com/x\n", want: "https://me:secret@example.com/x"},
		"path":           {config: "[remote \"origin\"]\nurl = ../x y\n", want: "../x y"},
		"rewritten": {
			config: "[remote \"origin\"]\nurl = gh:o/r\n",
			global: "[url \"https://github.com/\"]\ninsteadOf = gh:\n", want: "https://github.com/o/r",
		},
		"longest wins": {
			config: "[remote \"origin\"]\nurl = https://github.com/o/r\n",
			global: "[url \"short:\"]\ninsteadOf = https://\n[url \"long:\"]\ninsteadOf = https://github.com/o\ninsteadOf = https://github.com/\n" +
				"[url \"middle:\"]\ninsteadOf = https://github.com/\n",
			want: "long:/r",
		},
		"first of equals": {
			config: "[remote \"origin\"]\nurl = gh:o/r\n",
			global: "[url \"a:\"]\ninsteadOf = gh:\n[url \"b:\"]\ninsteadOf = gh:\n", want: "a:o/r",
		},
		"rewritten once": {
			config: "[remote \"origin\"]\nurl = a:x\n",
			global: "[url \"b:\"]\ninsteadOf = a:\n[url \"c:\"]\ninsteadOf = b:\n", want: "b:x",
		},
		"case counts": {
			config: "[remote \"origin\"]\nurl = GH:o/r\n",
			global: "[url \"a:\"]\ninsteadOf = gh:\n", want: "GH:o/r",
		},
		"everything": {
			config: "[remote \"origin\"]\nurl = x\n[url \"a:\"]\ninsteadOf = \"\"\n", want: "a:x",
		},
		"not for push": {
			config: "[remote \"origin\"]\nurl = gh:o/r\n",
			global: "[url \"a:\"]\npushInsteadOf = gh:\n", want: "gh:o/r",
		},
		"on this branch": {
			config: "[remote \"origin\"]\nurl = gh:o/r\n[includeIf \"onbranch:main\"]\npath = more\n[includeIf \"onbranch:other\"]\npath = none\n",
			want:   "on-main:o/r",
		},
		"in this folder": {
			config: "[remote \"origin\"]\nurl = gh:o/r\n",
			global: "[includeIf \"gitdir:**/repo/\"]\npath = repo/.git/more\n", want: "on-main:o/r",
		},
		"from the environment": {
			env:  []string{"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=remote.origin.url", "GIT_CONFIG_VALUE_0=e"},
			want: "e",
		},
		"with this remote": {
			config: "[remote \"origin\"]\nurl = gh:o/r\n",
			global: "[includeIf \"hasconfig:remote.*.url:gh:*/**\"]\npath = repo/.git/more\n", want: "on-main:o/r",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := gittest.New(t)
			dir := g.Init()
			top := filepath.Dir(dir)
			g.Env = g.Env.With("HOME=" + top).With(tt.env...)
			gittest.Write(t, join(top, ".gitconfig"), tt.global)
			gittest.Write(t, join(dir, ".git", "config"), tt.config)
			gittest.Write(t, join(dir, ".git", "more"), "[url \"on-main:\"]\ninsteadOf = gh:\n")

			got, err := discover(t, g, dir).RemoteURL(t.Context(), "origin")
			gitURL := g.Run(dir, "ls-remote", "--get-url", "origin")
			if tt.none {
				// Git takes the name of an unknown remote for a path.
				if !errors.Is(err, git.ErrNoRemote) || gitURL != "origin" {
					t.Errorf("error is %v, want ErrNoRemote (git: %q)", err, gitURL)
				}
				return
			}
			if err != nil || got != tt.want || got != gitURL {
				t.Errorf("URL is %q (error %v), want %q (git: %q)", got, err, tt.want, gitURL)
			}
		})
	}
}

// A condition on the directory also holds for the name it was reached by.
func TestRemoteURLOverALink(t *testing.T) {
	t.Parallel()
	g := gittest.New(t)
	dir := g.Init()
	g.Run(dir, "remote", "add", "origin", "gh:o/r")
	sub := mkdir(g, dir, "sub")
	link := join(g.Home, "link")
	relink(t, link, dir)
	gittest.Write(t, join(g.Home, ".gitconfig"), "[includeIf \"gitdir:"+filepath.ToSlash(link)+"/\"]\npath = more\n")
	gittest.Write(t, join(g.Home, "more"), "[url \"linked:\"]\ninsteadOf = gh:\n")
	for start, want := range map[string]string{
		link: "linked:o/r", join(link, "sub"): "linked:o/r", join(link, ".git"): "linked:o/r", dir: "gh:o/r", sub: "gh:o/r",
	} {
		got, err := discover(t, g, start).RemoteURL(t.Context(), "origin")
		if err != nil || got != want {
			t.Errorf("from %s: URL is %q, %v; want %q", start, got, err, want)
		}
		if start == join(link, "sub") {
			continue // git holds the name against the condition at the root only
		}
		asked := gittest.Git{TB: t, Home: g.Home, Env: g.Env.With("PWD=" + start)}
		if gitURL := asked.Run(start, "ls-remote", "--get-url", "origin"); gitURL != want {
			t.Errorf("from %s: git's URL is %q, want %q", start, gitURL, want)
		}
	}
}

func TestRemoteURLBadConfiguration(t *testing.T) {
	t.Parallel()
	g := gittest.New(t)
	dir := g.Init()
	gittest.Write(t, join(g.Home, ".gitconfig"), "[user]\n\tname = me\n[url \"https://token@example.com/]\n")
	_, err := discover(t, g, dir).RemoteURL(t.Context(), "origin")
	if err == nil || !strings.Contains(err.Error(), ".gitconfig") || !strings.Contains(err.Error(), "line 3") {
		t.Errorf("error is %v, want one that names file and line", err)
	}
	if err != nil && strings.Contains(err.Error(), "token") {
		t.Errorf("the error quotes the configuration: %v", err)
	}
}

func TestDefaultBranch(t *testing.T) {
	t.Parallel()
	const originHead = "refs/remotes/origin/HEAD"
	for _, format := range []string{"files", "reftable"} {
		for name, tt := range map[string]struct {
			branches string
			origin   string // what origin's HEAD names
			initial  string // init.defaultBranch
			want     string
		}{
			"nothing":                {branches: "x y"},
			"main":                   {branches: "master main x", want: "main"},
			"master":                 {branches: "master x", want: "master"},
			"configured":             {branches: "master main x", initial: "x", want: "x"},
			"configured, missing":    {branches: "master main", initial: "x", want: "main"},
			"configured, nonsense":   {branches: "master main", initial: "../x", want: "main"},
			"origin":                 {branches: "master main x dev/y", origin: "dev/y", initial: "x", want: "dev/y"},
			"origin, not local":      {branches: "master main", origin: "dev/y", want: "main"},
			"origin, of another one": {branches: "main y", origin: "../up/y", want: "main"},
		} {
			t.Run(format+"/"+name, func(t *testing.T) {
				t.Parallel()
				g := gittest.New(t)
				var args []string
				if format != "files" {
					args = append(args, "--ref-format="+format)
				}
				dir := g.Init(args...)
				g.Run(dir, "symbolic-ref", "HEAD", "refs/heads/start")
				g.Commit(dir, "first")
				for branch := range strings.FieldsSeq(tt.branches) {
					g.Run(dir, "branch", branch)
				}
				if tt.origin != "" {
					target := "refs/remotes/" + strings.TrimPrefix("origin/"+tt.origin, "origin/../")
					g.Run(dir, "symbolic-ref", originHead, target)
				}
				if tt.initial != "" {
					g.Run(dir, "config", "init.defaultBranch", tt.initial)
				}
				got, err := discover(t, g, dir).DefaultBranch(t.Context())
				if err != nil || got != tt.want {
					t.Errorf("DefaultBranch = %q, %v; want %q", got, err, tt.want)
				}
			})
		}
	}
}

// What needs no subprocess works without the program; the rest says what is
// missing.
func TestWithoutProgram(t *testing.T) {
	t.Parallel()
	g := gittest.New(t)
	dir := g.Init()
	g.Commit(dir, "first")
	g.Run(dir, "remote", "add", "origin", "https://example.com/x")
	g.Env = g.Env.With("PATH=" + t.TempDir())
	r := discover(t, g, dir)
	everything(t, r, func(method string, err error) {
		needsGit := method == "Status"
		if errors.Is(err, xec.ErrNotInstalled) != needsGit || (err != nil) != needsGit {
			t.Errorf("%s: error is %v", method, err)
		}
	})
	gittest.Write(t, join(g.Home, ".gitconfig"), "[includeIf \"hasconfig:remote.*.url:x\"]\npath = x\n")
	if _, err := r.RemoteURL(t.Context(), "origin"); !errors.Is(err, xec.ErrNotInstalled) {
		t.Errorf("error is %v, want ErrNotInstalled", err)
	}
}
