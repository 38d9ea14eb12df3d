package git_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/git/gittest"
)

// here is the working directory of each process: that of the test for copse, and that of the worktree for git.
const here = "/proc/self/cwd"

// differing are files that copse and git would find in different places. In these, "evil" is a configuration with a
// filter, in the root of the worktree.
var differing = map[string]func(g *gittest.Git, dir string) error{
	"include.path": func(g *gittest.Git, dir string) error {
		g.Run(dir, "config", "include.path", here+"/evil")
		return nil
	},
	"includeIf": func(g *gittest.Git, dir string) error {
		g.Run(dir, "config", "includeIf.gitdir:**.path", here+"/evil")
		return nil
	},
	"include in config.worktree": func(g *gittest.Git, dir string) error {
		g.Run(dir, "config", "extensions.worktreeConfig", "true")
		g.Run(dir, "config", "--worktree", "include.path", here+"/evil")
		return nil
	},
	"include over a link": func(g *gittest.Git, dir string) error {
		g.Run(dir, "config", "include.path", "sub/evil")
		return os.Symlink(here, filepath.Join(dir, ".git", "sub"))
	},
	"include over /dev/fd": func(g *gittest.Git, dir string) error {
		g.Run(dir, "config", "include.path", "/dev/fd/../cwd/evil")
		return nil
	},
	"config": func(_ *gittest.Git, dir string) error {
		config := filepath.Join(dir, ".git", "config")
		return errors.Join(os.Remove(config), os.Symlink(here+"/evil", config))
	},
	"config.worktree": func(g *gittest.Git, dir string) error {
		g.Run(dir, "config", "extensions.worktreeConfig", "true")
		return os.Symlink(here+"/evil", filepath.Join(dir, ".git", "config.worktree"))
	},
	".git file": func(_ *gittest.Git, dir string) error {
		moved := filepath.Join(dir, "moved")
		return errors.Join(os.Rename(filepath.Join(dir, ".git"), moved), os.WriteFile(filepath.Join(dir, ".git"), []byte("gitdir: "+here+"/moved\n"), 0o600))
	},
	".git link": func(_ *gittest.Git, dir string) error {
		return errors.Join(os.Rename(filepath.Join(dir, ".git"), filepath.Join(dir, "moved")), os.Symlink(here+"/moved", filepath.Join(dir, ".git")))
	},
	".git link to a file": func(_ *gittest.Git, dir string) error {
		return errors.Join(os.Rename(filepath.Join(dir, ".git"), filepath.Join(dir, "moved")), os.Symlink(here+"/file", filepath.Join(dir, ".git")),
			os.WriteFile(filepath.Join(dir, "file"), []byte("gitdir: moved\n"), 0o600))
	},
	"commondir": func(_ *gittest.Git, dir string) error {
		return os.WriteFile(filepath.Join(dir, ".git", "commondir"), []byte(here+"/common\n"), 0o600)
	},
	"commondir link": func(_ *gittest.Git, dir string) error {
		return os.Symlink(here+"/common", filepath.Join(dir, ".git", "commondir"))
	},
	"core.worktree": func(g *gittest.Git, dir string) error {
		g.Run(dir, "config", "core.worktree", here)
		return nil
	},
	"core.attributesFile": func(g *gittest.Git, dir string) error {
		g.Run(dir, "config", "core.attributesFile", here+"/attributes")
		return nil
	},
	"core.excludesFile": func(g *gittest.Git, dir string) error {
		g.Run(dir, "config", "core.excludesFile", here+"/excludes")
		return nil
	},
	"core.excludesFile of an account": func(g *gittest.Git, dir string) error {
		g.Run(dir, "config", "core.excludesFile", "~root/excludes")
		return nil
	},
	"alternates": func(_ *gittest.Git, dir string) error {
		return os.WriteFile(filepath.Join(dir, ".git", "objects", "info", "alternates"), []byte(here+"/objects\n"), 0o600)
	},
	"alternates of alternates": func(_ *gittest.Git, dir string) error {
		list := filepath.Join(dir, ".git", "objects", "info", "alternates")
		return errors.Join(os.WriteFile(list, []byte("../../objects\n"), 0o600), os.Mkdir(filepath.Join(dir, "objects"), 0o700),
			os.Symlink(here, filepath.Join(dir, "objects", "info")))
	},
	"submodule": func(g *gittest.Git, dir string) error {
		g.Run(dir, "update-index", "--add", "--cacheinfo", "160000,"+g.Run(dir, "rev-parse", "HEAD")+",sub")
		return errors.Join(os.Mkdir(filepath.Join(dir, "sub"), 0o700), os.WriteFile(filepath.Join(dir, "sub", ".git"), []byte("gitdir: "+here+"/moved\n"), 0o600))
	},
	"configuration of a submodule": func(g *gittest.Git, dir string) error {
		g.Run(dir, "update-index", "--add", "--cacheinfo", "160000,"+g.Run(dir, "rev-parse", "HEAD")+",sub")
		g.Run(dir, "init", "-q", "sub")
		return errors.Join(os.Remove(filepath.Join(dir, "sub", ".git", "config")), os.Symlink(here+"/evil", filepath.Join(dir, "sub", ".git", "config")))
	},
	"NUL in alternates": func(_ *gittest.Git, dir string) error {
		return os.WriteFile(filepath.Join(dir, ".git", "objects", "info", "alternates"), []byte(dir+"/objects\x00x\n"), 0o600)
	},
	"gitdir of a worktree": func(g *gittest.Git, dir string) error {
		g.Run(dir, "worktree", "add", "-q", filepath.Join(filepath.Dir(dir), "linked"))
		return os.WriteFile(filepath.Join(dir, ".git", "worktrees", "linked", "gitdir"), []byte(here+"/.git\n"), 0o600)
	},
	"worktrees":       replaced("worktrees"),
	"info":            replaced("info"),
	"info/attributes": replaced("info/attributes"),
	"info/exclude":    replaced("info/exclude"),
	"objects":         replaced("objects"),
	"objects/pack":    replaced("objects/pack"),
	"refs":            replaced("refs"),
	"refs/heads":      replaced("refs/heads"),
	"logs":            replaced("logs"),
	"packed-refs":     replaced("packed-refs"),
	"index":           replaced("index"),
	"HEAD":            replaced("HEAD"),
	"rebase-merge":    replaced("rebase-merge"),
	"standard input": func(_ *gittest.Git, dir string) error {
		return os.Symlink("/dev/stdin", filepath.Join(dir, ".git", "MERGE_HEAD"))
	},
}

// replaced replaces a file or directory of git by a link that leads there for git, but not for copse.
func replaced(name string) func(*gittest.Git, string) error {
	return func(_ *gittest.Git, dir string) error {
		path := filepath.Join(dir, ".git", filepath.FromSlash(name))
		moved := filepath.Join(dir, "moved")
		err := os.Rename(path, moved)
		if errors.Is(err, os.ErrNotExist) {
			err = os.Mkdir(moved, 0o700)
		}
		return errors.Join(err, os.Symlink(here+"/moved", path))
	}
}

// If copse and git would find different files, no git starts. The error names the file.
func TestFilesOfTheProcess(t *testing.T) {
	t.Parallel()
	for name, put := range differing {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := gittest.New(t)
			dir := g.Init()
			canary := filepath.Join(t.TempDir(), "canary")
			gittest.Write(t, filepath.Join(dir, "a.txt"), "A\n")
			g.Run(dir, "add", ".")
			g.Commit(dir, "first")
			gittest.Write(t, filepath.Join(dir, ".gitattributes"), "* filter=x\n")
			gittest.Write(t, filepath.Join(dir, "evil"), "[core]\nrepositoryformatversion = 0\n[filter \"x\"]\nclean = \"touch '"+canary+"'; cat\"\n")
			old(t, filepath.Join(dir, "a.txt"))
			if err := put(g, dir); err != nil {
				t.Fatal(err)
			}
			r, err := git.Discover(t.Context(), dir, git.Options{Env: g.Env})
			if err == nil {
				_, err = r.Status(t.Context())
			}
			if broken, ok := errors.AsType[*git.BrokenError](err); !ok || !strings.HasPrefix(broken.Path, dir) || broken.Remedy == "" || strings.Contains(err.Error(), "moved") {
				t.Errorf("error is %v", err)
			} else {
				t.Log(err)
			}
			if _, err := os.Lstat(canary); err == nil {
				t.Error("the filter ran")
			}
		})
	}
}
