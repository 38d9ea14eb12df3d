package gitconfig_test

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/copse-dev/copse/internal/git/gitconfig"
	"github.com/copse-dev/copse/internal/git/gittest"
	"github.com/copse-dev/copse/internal/xec"
)

// Each case writes files and says what the environment is; what is loaded must be what git lists.
// In texts and values HOME, REPO and TMP stand for directories.
var loads = map[string]struct {
	files  map[string]string // relative to the temporary directory
	env    []string
	branch string
	// needsGit means that Load must refuse.
	needsGit bool
	// fails means that both must refuse.
	fails bool
}{
	"repository alone": {},
	"all levels": {
		files: map[string]string{
			"system": "[x]\na = system\nb = system\n", "home/.gitconfig": "[x]\na = home\n",
			"home/.config/git/config": "[x]\na = xdg\n", "repo/.git/config.worktree": "[x]\na = not read\n",
		},
		env: []string{"GIT_CONFIG_SYSTEM=TMP/system"},
	},
	"worktree level": {
		files: map[string]string{
			"repo/.git/config":          "[core]\nrepositoryformatversion = 1\n[extensions]\nworktreeConfig = true\n[x]\na = repo\n",
			"repo/.git/config.worktree": "[x]\na = worktree\n[include]\npath = more\n",
			"repo/.git/more":            "[x]\nb = included\n",
		},
	},
	"no system": {
		files: map[string]string{"system": "[x]\na = system\n"},
		env:   []string{"GIT_CONFIG_SYSTEM=TMP/system", "GIT_CONFIG_NOSYSTEM=yes"},
	},
	"bad no system": {env: []string{"GIT_CONFIG_NOSYSTEM=maybe"}, fails: true},
	"XDG": {
		files: map[string]string{"xdg/git/config": "[x]\na = xdg\n", "home/.config/git/config": "[x]\nnot = read\n"},
		env:   []string{"XDG_CONFIG_HOME=TMP/xdg"},
	},
	"empty XDG": {
		files: map[string]string{"home/.config/git/config": "[x]\na = xdg\n"},
		env:   []string{"XDG_CONFIG_HOME="},
	},
	"other global": {
		files: map[string]string{"global": "[x]\na = global\n", "home/.gitconfig": "[x]\nnot = read\n"},
		env:   []string{"GIT_CONFIG_GLOBAL=TMP/global"},
	},
	"no global": {
		files: map[string]string{"home/.gitconfig": "[x]\nnot = read\n"},
		env:   []string{"GIT_CONFIG_GLOBAL="},
	},
	"environment": {env: []string{
		"GIT_CONFIG_COUNT=2", "GIT_CONFIG_KEY_0=Url.https://X.insteadOf", "GIT_CONFIG_VALUE_0= v ",
		"GIT_CONFIG_KEY_1=a.B", "GIT_CONFIG_VALUE_1=",
	}},
	"environment includes": {
		files: map[string]string{"inc": "[x]\na = 1\n"},
		env:   []string{"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=include.path", "GIT_CONFIG_VALUE_0=TMP/inc"},
	},
	"environment includes relative": {
		files: map[string]string{"inc": "[x]\na = 1\n"},
		env:   []string{"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=include.path", "GIT_CONFIG_VALUE_0=inc"},
		fails: true,
	},
	"environment short":     {env: []string{"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=a.b"}, fails: true},
	"environment bad key":   {env: []string{"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=ab", "GIT_CONFIG_VALUE_0=1"}, fails: true},
	"environment bad count": {env: []string{"GIT_CONFIG_COUNT=many"}, fails: true},
	"include chain": {files: map[string]string{
		"home/.gitconfig": "[x]\na = 1\n[include]\npath = ~/one\npath = missing\n[x]\na = 4\n",
		"home/one":        "[x]\na = 2\n[include]\npath = sub/two\n[x]\nb = 2\n",
		"home/sub/two":    "[x]\na = 3\n[include]\npath = ../three\npath = \"TMP/four five\"\n",
		"home/three":      "[x]\nc = 3\n",
		"four five":       "[x]\nc = 4\n",
	}},
	"include cycle":          {files: map[string]string{"home/.gitconfig": "[include]\npath = .gitconfig\n"}, fails: true},
	"include broken":         {files: map[string]string{"home/.gitconfig": "[include]\npath = bad\n", "home/bad": "[bad\n"}, fails: true},
	"include a folder":       {files: map[string]string{"home/.gitconfig": "[include]\npath = d\n", "home/d/x": ""}, fails: true},
	"include nothing":        {files: map[string]string{"home/.gitconfig": "[include]\npath\n"}, fails: true},
	"include nothing if":     {files: map[string]string{"home/.gitconfig": "[includeIf \"gitdir:**\"]\npath\n"}, fails: true},
	"include nothing unless": {files: map[string]string{"home/.gitconfig": "[includeIf \"gitdir:x/\"]\npath\n"}},
	"include a subpath":      {files: map[string]string{"home/.gitconfig": "[include]\npath = x/y\n", "home/x": ""}},
	"global broken":          {files: map[string]string{"home/.gitconfig": "[x\n"}, fails: true},
	"of another user":        {files: map[string]string{"home/.gitconfig": "[include]\npath = ~root/x\n"}, needsGit: true},
	"conditions": {files: map[string]string{
		"home/.gitconfig": conditions(
			"gitdir:REPO/.git", "gitdir:REPO/", "gitdir:TMP/", "gitdir:~/", "gitdir:TMP/REPO", "gitdir:repo/", "gitdir:repo/.git",
			"gitdir:repo", "gitdir:**/repo/**", "gitdir:Repo/", "gitdir/i:Repo/", "gitdir/i:TMP/REPo/", "gitdir:re?o/", "gitdir:r*/",
			"gitdir:/**/.git", "gitdir:*", "gitdir:**", "gitdir:/", "gitdir:", "gitdir:./", "gitdir:./../repo/", "gitdir:rep/", "gitdir:**o/",
			"gitdir:TMP/*/.git", "gitdir:TMP/**/**/.git", "gitdir:TMP/*", "gitdir:TMP/**/*/.git/**", "gitdir:TMP/repo**",
		),
		"repo/.git/config": conditions("gitdir:./", "gitdir:.", "gitdir/i:./"),
	}},
	"link to the repository": {files: map[string]string{
		"home/.gitconfig": conditions("gitdir:TMP/link/", "gitdir:TMP/link/.git", "gitdir:link/", "gitdir:TMP/repo/"),
	}},
	"home is inside": {
		files: map[string]string{"home/.gitconfig": conditions("gitdir:~/../repo/", "gitdir:~/", "gitdir:~")},
	},
	"branch": {branch: "feature/x", files: map[string]string{
		"home/.gitconfig": conditions(
			"onbranch:feature/x", "onbranch:feature/", "onbranch:feature", "onbranch:feature/*", "onbranch:*", "onbranch:**",
			"onbranch:**/x", "onbranch:FEATURE/x", "onbranch:feature/x/", "onbranch:f*/?", "onbranch:", "onbranch:/",
			"onbranch:**/feature/x", "onbranch:feature/**/x", "onbranch:feature/x/**", "onbranch:feature**",
		),
	}},
	"no condition":    {files: map[string]string{"home/.gitconfig": "[includeIf]\npath = inc\n[includeIf \"gitdir:**\"]\nfoo = inc\n", "home/inc": "[x]\na = 1\n"}},
	"remotes":         {files: map[string]string{"home/.gitconfig": conditions("hasconfig:remote.*.url:x")}, needsGit: true},
	"later condition": {files: map[string]string{"home/.gitconfig": conditions("phase-of-moon:full")}, needsGit: true},
	"brackets":        {files: map[string]string{"home/.gitconfig": conditions("gitdir:[a-z]/")}, needsGit: true},
}

// conditions returns a file that includes another under each condition.
func conditions(list ...string) string {
	text := ""
	for _, c := range list {
		text += fmt.Sprintf("[includeIf %q]\npath = TMP/inc/%x\n", c, c)
	}
	return text
}

func TestLoadAgreesWithGit(t *testing.T) {
	t.Parallel()
	for name, tt := range loads {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			git := gittest.New(t)
			tmp := filepath.ToSlash(gittest.Dir(t))
			home, repo := tmp+"/home", tmp+"/repo"
			git.Env = git.Env.Without("GIT_CONFIG_NOSYSTEM").With("HOME="+home, "GIT_CONFIG_SYSTEM="+tmp+"/none")
			// The environment of the case may keep git from starting.
			setup := *git
			git.Run(tmp, "init", "-q", "--initial-branch=main", repo)
			if tt.branch != "" {
				setup.Run(repo, "symbolic-ref", "HEAD", "refs/heads/"+tt.branch)
			}
			replace := strings.NewReplacer("TMP/REPO", tmp+"/REPO", "HOME", home, "REPO", repo, "TMP", tmp)
			for path, text := range tt.files {
				text = replace.Replace(text)
				gittest.Write(t, filepath.Join(tmp, path), text)
				for line := range strings.Lines(text) {
					if inc, ok := strings.CutPrefix(strings.TrimSpace(line), "path = "+tmp+"/inc/"); ok {
						condition, err := hex.DecodeString(inc)
						if err != nil {
							t.Fatal(err)
						}
						gittest.Write(t, filepath.Join(tmp, "inc", inc), fmt.Sprintf("[included]\n\tcondition = %q\n", condition))
					}
				}
			}
			for _, kv := range tt.env {
				git.Env = git.Env.With(replace.Replace(kv))
			}

			start := repo
			s := gitconfig.Sources{
				Lookup: git.Env.Lookup, Home: home, System: tmp + "/none",
				CommonDir: repo + "/.git", GitDir: repo + "/.git",
				Worktree: name == "worktree level",
				Branch:   func() string { return tt.branch },
			}
			if strings.Contains(name, "link") {
				start = tmp + "/link"
				if err := os.Symlink(repo, start); err != nil {
					t.Skipf("no symbolic links: %v", err)
				}
				s.GitDirAlias = start + "/.git"
				git.Env = git.Env.With("PWD=" + start)
			}
			got, err := gitconfig.Load(s)
			if tt.needsGit {
				if !errors.Is(err, gitconfig.ErrNeedsGit) {
					t.Errorf("error is %v, want ErrNeedsGit", err)
				}
				return
			}
			list, gitErr := git.Try(start, "config", "--list", "-z")
			if (err != nil) != tt.fails || (gitErr != nil) != tt.fails {
				t.Fatalf("error is %v, git's is %v; want errors: %v", err, gitErr, tt.fails)
			}
			if tt.fails {
				return
			}
			if diff := cmp.Diff(gitconfig.ParseList([]byte(list)), got, cmpopts.IgnoreFields(gitconfig.Entry{}, "Users")); diff != "" {
				t.Errorf("configuration (-git +got):\n%s", diff)
			}
		})
	}
}

func TestLoadForbidden(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" || os.Getuid() == 0 {
		t.Skip("permissions do not keep this user out")
	}
	home, repo := gittest.Dir(t), gittest.Dir(t)
	s := gitconfig.Sources{Lookup: xec.Env{}.Lookup, Home: home, CommonDir: repo, GitDir: repo}
	for path, fails := range map[string]bool{filepath.Join(home, ".gitconfig"): false, filepath.Join(repo, "config"): true} {
		gittest.Write(t, path, "[a]\nb = 1\n")
		if err := os.Chmod(path, 0); err != nil {
			t.Fatal(err)
		}
		if _, err := gitconfig.Load(s); errors.Is(err, fs.ErrPermission) != fails || (err != nil) != fails {
			t.Errorf("%s: error is %v, want one: %v", path, err, fails)
		}
		if err := os.Chmod(path, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestConfig(t *testing.T) {
	t.Parallel()
	cfg, err := gitconfig.Parse([]byte("[a]\nx = 1\nx = 2\nt\nn = no\ne =\nk = 2k\nz = 0\nbad = 2kk\n" +
		"[remote \"o.p\"]\nurl = u1\nurl = u2\npushurl = u3\nurl\n[remote \"q\"]\nurl = u4\n[remote]\nurl = none\n"))
	if err != nil {
		t.Fatal(err)
	}
	if v, ok := cfg.Value("a.x"); v != "2" || !ok {
		t.Errorf("a.x = %q, %v; want the last value", v, ok)
	}
	if _, ok := cfg.Value("a.none"); ok {
		t.Error("a.none has a value")
	}
	for key, want := range map[string]bool{"a.t": true, "a.n": false, "a.e": false, "a.k": true, "a.z": false, "a.none": true} {
		if got, err := cfg.Bool(key, true); got != want || err != nil {
			t.Errorf("Bool(%s) = %v, %v; want %v", key, got, err, want)
		}
	}
	if _, err := cfg.Bool("a.bad", true); err == nil || !strings.Contains(err.Error(), "a.bad") {
		t.Errorf("error is %v, want one that names a.bad", err)
	}
	var got []string
	for sub, value := range cfg.Subsections("remote", "url") {
		got = append(got, sub+"="+value)
	}
	if diff := cmp.Diff([]string{"o.p=u1", "o.p=u2", "q=u4"}, got); diff != "" {
		t.Errorf("subsections (-want +got):\n%s", diff)
	}
}

func TestSystemFile(t *testing.T) {
	t.Parallel()
	prefix := filepath.Join(t.TempDir(), "opt")
	program := filepath.Join(prefix, "bin", "git")
	for _, none := range []string{"", program, "/usr/bin/git"} {
		if got := gitconfig.SystemFile(none); got != "/etc/gitconfig" {
			t.Errorf("SystemFile(%q) = %q, want /etc/gitconfig", none, got)
		}
	}
	want := filepath.Join(prefix, "etc", "gitconfig")
	gittest.Write(t, want, "")
	for _, program := range []string{program, filepath.Join(prefix, "mingw64", "bin", "git.exe")} {
		if got := gitconfig.SystemFile(program); got != want {
			t.Errorf("SystemFile(%q) = %q, want %q", program, got, want)
		}
	}
}

// Own follows an include as every release of git reads its path.
func TestOwnReadsAsAnyRelease(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"config": "[include]\npath = e\tv\r\"\tx\"\n", "e\tv\r\tx": "[filter \"new\"]\nclean = x\n", "e v \tx": "[filter \"old\"]\nclean = x\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Skip(err) // such names are not allowed here
		}
	}
	cfg, err := gitconfig.Own(gitconfig.Sources{CommonDir: dir, GitDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"filter.new.clean", "filter.old.clean"} {
		if _, ok := cfg.Value(key); !ok {
			t.Errorf("%s is not found", key)
		}
	}
}

// Bombs of configuration are refused, and not read to their end.
func TestTooMuch(t *testing.T) {
	t.Parallel()
	text := map[string]string{
		"entries":     "[a]\n" + strings.Repeat("b\n", 1<<19),
		"long header": "[a \"" + strings.Repeat("x", 1<<20) + "\"]\n" + strings.Repeat("b\n", 1<<17),
		"NUL":         "[a]\nb = x\x00y\n",
	}
	for name, text := range text {
		if _, err := gitconfig.Parse([]byte(text)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	// Ten files, each of which includes the next a hundred times.
	dir := t.TempDir()
	for i := range 10 {
		next := fmt.Sprintf("[include]\npath = %d\n", i+1)
		if err := os.WriteFile(filepath.Join(dir, strings.Replace(fmt.Sprint(i), "0", "config", 1)), []byte(strings.Repeat(next, 100)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	lookup := func(string) (string, bool) { return "", false }
	if _, err := gitconfig.Own(gitconfig.Sources{Lookup: lookup, CommonDir: dir, GitDir: dir}); err == nil {
		t.Error("a thousand million includes are accepted")
	}
}

// The settings of a repository, and what they include, are not the user's.
func TestUsers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	gittest.Write(t, filepath.Join(dir, "home", ".gitconfig"), "[a]\nglobal = 1\n[include]\npath = included\n")
	gittest.Write(t, filepath.Join(dir, "home", "included"), "[a]\nglobalincluded = 1\n")
	gittest.Write(t, filepath.Join(dir, "repo", "config"), "[a]\nlocal = 1\n[include]\npath = included\n")
	gittest.Write(t, filepath.Join(dir, "repo", "included"), "[a]\nlocalincluded = 1\n")
	config, err := gitconfig.Load(gitconfig.Sources{
		Lookup: xec.Env{"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=a.command", "GIT_CONFIG_VALUE_0=1"}.Lookup, Home: filepath.Join(dir, "home"),
		CommonDir: filepath.Join(dir, "repo"), GitDir: filepath.Join(dir, "repo"),
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range config {
		if name, ok := strings.CutPrefix(e.Key, "a."); ok && e.Users == strings.HasPrefix(name, "local") {
			t.Errorf("%s: %v", e.Key, e.Users)
		}
	}
}
