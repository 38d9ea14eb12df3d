package git_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/git/gittest"
	"github.com/copse-dev/copse/internal/git/history"
)

// trap is a repository that names a program.
type trap struct {
	g      *gittest.Git
	dir    string // the repository, with a commit of a.txt
	touch  string // a program that leaves a trace
	filter string // the same, as a filter
}

// traps are the ways in which files of a repository name a program. Each sets one, and
// returns where to look from, and the git command that falls into it: which proves that
// it is one. No command means that only other releases of git do.
var traps = map[string]func(t *testing.T, p trap) (start string, falls []string){
	"filter.clean": func(t *testing.T, p trap) (string, []string) {
		gittest.Write(t, join(p.dir, ".gitattributes"), "* filter=x\n")
		p.g.Run(p.dir, "config", "filter.x.clean", p.filter)
		return p.dir, status
	},
	"filter.clean of a staged attribute": func(t *testing.T, p trap) (string, []string) {
		gittest.Write(t, join(p.dir, ".gitattributes"), "a.txt filter=x\n")
		p.g.Run(p.dir, "add", ".gitattributes")
		remove(t, join(p.dir, ".gitattributes"))
		p.g.Run(p.dir, "config", "filter.x.clean", p.filter)
		return p.dir, status
	},
	"filter.process": func(t *testing.T, p trap) (string, []string) {
		gittest.Write(t, join(p.dir, ".gitattributes"), "* filter=x\n")
		p.g.Run(p.dir, "config", "filter.x.process", p.filter)
		return p.dir, status
	},
	"required filter": func(t *testing.T, p trap) (string, []string) {
		gittest.Write(t, join(p.dir, ".gitattributes"), "* filter=x\n")
		p.g.Run(p.dir, "config", "filter.x.process", p.filter)
		p.g.Run(p.dir, "config", "filter.x.clean", p.filter)
		p.g.Run(p.dir, "config", "filter.x.required", "true")
		return p.dir, status
	},
	"filter with a strange name": func(t *testing.T, p trap) (string, []string) {
		gittest.Write(t, join(p.dir, ".gitattributes"), "* filter=Ä.b-C\\\"'\n")
		p.g.Run(p.dir, "config", "filter.Ä.b-C\\\"'.clean", p.filter)
		return p.dir, status
	},
	"filter with an equals sign in its name": func(t *testing.T, p trap) (string, []string) {
		gittest.Write(t, join(p.dir, ".gitattributes"), "* filter=a=b\n")
		p.g.Run(p.dir, "config", "filter.a=b.clean", p.filter)
		return p.dir, status
	},
	"filter in the old spelling": func(t *testing.T, p trap) (string, []string) {
		gittest.Write(t, join(p.dir, ".gitattributes"), "* filter=x\n")
		add(t, join(p.dir, ".git", "config"), "[FILTER.X] CLEAN = \""+p.filter+"\"\n")
		return p.dir, status
	},
	"info/attributes": func(t *testing.T, p trap) (string, []string) {
		gittest.Write(t, join(p.dir, ".git", "info", "attributes"), "* filter=x\n")
		p.g.Run(p.dir, "config", "filter.x.clean", p.filter)
		return p.dir, status
	},
	"core.attributesFile": func(t *testing.T, p trap) (string, []string) {
		gittest.Write(t, join(p.dir, ".git", "more"), "* filter=x\n")
		p.g.Run(p.dir, "config", "core.attributesFile", ".git/more")
		p.g.Run(p.dir, "config", "filter.x.clean", p.filter)
		return p.dir, status
	},
	"include.path": func(t *testing.T, p trap) (string, []string) {
		gittest.Write(t, join(p.dir, ".gitattributes"), "* filter=x\n")
		gittest.Write(t, join(p.dir, "settings"), "[filter \"x\"]\nclean = \""+p.filter+"\"\n")
		p.g.Run(p.dir, "config", "include.path", "../settings")
		return p.dir, status
	},
	"include.path behind a link": func(t *testing.T, p trap) (string, []string) {
		gittest.Write(t, join(p.dir, ".gitattributes"), "* filter=x\n")
		// Taken apart as text the path leads to .git/settings, which is harmless.
		gittest.Write(t, join(p.dir, ".git", "settings"), "")
		gittest.Write(t, join(p.dir, "deep", "er", "x"), "")
		gittest.Write(t, join(p.dir, "deep", "settings"), "[filter \"x\"]\nclean = \""+p.filter+"\"\n")
		relink(t, join(p.dir, ".git", "link"), join(p.dir, "deep", "er"))
		p.g.Run(p.dir, "config", "include.path", "link/../settings")
		return p.dir, status
	},
	"includeIf gitdir": func(t *testing.T, p trap) (string, []string) {
		return includeIf(t, p, "gitdir:"+p.dir+"/")
	},
	"includeIf onbranch": func(t *testing.T, p trap) (string, []string) { return includeIf(t, p, "onbranch:main") },
	"includeIf hasconfig": func(t *testing.T, p trap) (string, []string) {
		p.g.Run(p.dir, "remote", "add", "origin", "https://example.com/x")
		return includeIf(t, p, "hasconfig:remote.*.url:https://example.com/**")
	},
	"includeIf of another release": func(t *testing.T, p trap) (string, []string) {
		start, _ := includeIf(t, p, "newer:x")
		return start, nil
	},
	"configuration of a worktree": func(t *testing.T, p trap) (string, []string) {
		gittest.Write(t, join(p.dir, ".gitattributes"), "* filter=x\n")
		p.g.Run(p.dir, "config", "extensions.worktreeConfig", "true")
		p.g.Run(p.dir, "config", "--worktree", "filter.x.clean", p.filter)
		return p.dir, status
	},
	"linked worktree": func(t *testing.T, p trap) (string, []string) {
		linked := join(filepath.Dir(p.dir), "linked")
		p.g.Run(p.dir, "worktree", "add", "-q", linked)
		gittest.Write(t, join(linked, ".gitattributes"), "* filter=x\n")
		old(t, join(linked, "a.txt"))
		p.g.Run(p.dir, "config", "filter.x.clean", p.filter)
		return linked, status
	},
	"configuration of a linked worktree": func(t *testing.T, p trap) (string, []string) {
		linked := join(filepath.Dir(p.dir), "linked")
		p.g.Run(p.dir, "config", "extensions.worktreeConfig", "true")
		p.g.Run(p.dir, "worktree", "add", "-q", linked)
		gittest.Write(t, join(linked, ".gitattributes"), "* filter=x\n")
		old(t, join(linked, "a.txt"))
		p.g.Run(linked, "config", "--worktree", "filter.x.clean", p.filter)
		return linked, status
	},
	".git file": func(t *testing.T, p trap) (string, []string) {
		gittest.Write(t, join(p.dir, ".gitattributes"), "* filter=x\n")
		p.g.Run(p.dir, "config", "filter.x.clean", p.filter)
		rename(t, join(p.dir, ".git"), join(p.dir, "elsewhere"))
		gittest.Write(t, join(p.dir, ".git"), "gitdir: elsewhere\n")
		return p.dir, status
	},
	".git file behind a link": func(t *testing.T, p trap) (string, []string) {
		rename(t, join(p.dir, ".git"), join(p.dir, "harmless"))
		p.g.Run(p.dir, "--git-dir=harmless", "config", "core.bare", "false")
		top := join(p.dir, "far", "away")
		gittest.Write(t, join(top, "x"), "")
		copyTree(t, join(p.dir, "harmless"), join(p.dir, "far", "harmless"))
		p.g.Run(p.dir, "--git-dir=far/harmless", "config", "filter.x.clean", p.filter)
		gittest.Write(t, join(p.dir, ".gitattributes"), "* filter=x\n")
		relink(t, join(p.dir, "link"), top)
		gittest.Write(t, join(p.dir, ".git"), "gitdir: link/../harmless\n")
		return p.dir, status
	},
	"commondir": func(t *testing.T, p trap) (string, []string) {
		gittest.Write(t, join(p.dir, ".gitattributes"), "* filter=x\n")
		copyTree(t, join(p.dir, ".git"), join(p.dir, "common"))
		p.g.Run(p.dir, "--git-dir=common", "config", "filter.x.clean", p.filter)
		gittest.Write(t, join(p.dir, ".git", "commondir"), "../common\n")
		return p.dir, status
	},
	"nested repository that only git takes for none": func(t *testing.T, p trap) (string, []string) {
		gittest.Write(t, join(p.dir, ".gitattributes"), "* filter=x\n")
		p.g.Run(p.dir, "config", "filter.x.clean", p.filter)
		inner := join(p.dir, "inner", ".git")
		gittest.Write(t, join(inner, "HEAD"), "ref: refs/heads/main\n")
		gittest.Write(t, join(inner, "objects"), "")
		gittest.Write(t, join(inner, "refs"), "")
		return join(p.dir, "inner"), status
	},
	"submodule's own configuration": func(t *testing.T, p trap) (string, []string) {
		sub := submodule(t, p)
		gittest.Write(t, join(p.dir, ".git", "modules", "sub", "info", "attributes"), "* filter=x\n")
		p.g.Run(sub, "config", "filter.x.clean", p.filter)
		old(t, join(sub, "a.txt"))
		return p.dir, status
	},
	"submodule's monitor": func(t *testing.T, p trap) (string, []string) {
		p.g.Run(submodule(t, p), "config", "core.fsmonitor", p.touch)
		return p.dir, status
	},
	"submodule with a .git directory": func(t *testing.T, p trap) (string, []string) {
		sub := submodule(t, p)
		remove(t, join(sub, ".git"))
		rename(t, join(p.dir, ".git", "modules", "sub"), join(sub, ".git"))
		p.g.Run(p.dir, "config", "--file", "sub/.git/config", "--unset", "core.worktree")
		gittest.Write(t, join(sub, ".git", "info", "attributes"), "* filter=x\n")
		p.g.Run(sub, "config", "filter.x.clean", p.filter)
		old(t, join(sub, "a.txt"))
		return p.dir, status
	},
	"core.fsmonitor": func(_ *testing.T, p trap) (string, []string) {
		p.g.Run(p.dir, "config", "core.fsmonitor", p.touch)
		return p.dir, status
	},
	"hook": func(t *testing.T, p trap) (string, []string) {
		gittest.Write(t, join(p.dir, ".git", "hooks", "post-index-change"), "#!/bin/sh\n"+p.touch+"\n")
		if err := os.Chmod(join(p.dir, ".git", "hooks", "post-index-change"), 0o755); err != nil {
			t.Fatal(err)
		}
		return p.dir, status
	},
	"core.hooksPath": func(t *testing.T, p trap) (string, []string) {
		gittest.Write(t, join(p.dir, "h", "post-index-change"), "#!/bin/sh\n"+p.touch+"\n")
		if err := os.Chmod(join(p.dir, "h", "post-index-change"), 0o755); err != nil {
			t.Fatal(err)
		}
		p.g.Run(p.dir, "config", "core.hooksPath", "h")
		return p.dir, status
	},
	"hook of the configuration": func(_ *testing.T, p trap) (string, []string) {
		p.g.Run(p.dir, "config", "hook.x.command", p.touch)
		p.g.Run(p.dir, "config", "hook.x.event", "post-index-change")
		return p.dir, nil // since 2.54
	},
	"diff.external": func(t *testing.T, p trap) (string, []string) {
		gittest.Write(t, join(p.dir, "a.txt"), "changed\n")
		p.g.Run(p.dir, "config", "diff.external", p.touch+" #")
		return p.dir, []string{"diff"}
	},
	"diff.command": func(t *testing.T, p trap) (string, []string) {
		gittest.Write(t, join(p.dir, ".gitattributes"), "* diff=x\n")
		gittest.Write(t, join(p.dir, "a.txt"), "changed\n")
		p.g.Run(p.dir, "config", "diff.x.command", p.touch+" #")
		return p.dir, []string{"diff"}
	},
	"diff.textconv": func(t *testing.T, p trap) (string, []string) {
		gittest.Write(t, join(p.dir, ".gitattributes"), "* diff=x\n")
		gittest.Write(t, join(p.dir, "a.txt"), "changed\n")
		p.g.Run(p.dir, "config", "diff.x.textconv", p.filter+" <")
		return p.dir, []string{"diff"}
	},
	"signature": func(t *testing.T, p trap) (string, []string) {
		text := p.g.Run(p.dir, "cat-file", "commit", "HEAD") + "\n"
		at := len(text) - len("\n\nfirst\n")
		signed := text[:at] + "\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----" + text[at:]
		gittest.Write(t, join(p.dir, ".git", "signed"), signed)
		p.g.Run(p.dir, "update-ref", "HEAD", p.g.Run(p.dir, "hash-object", "-t", "commit", "-w", ".git/signed"))
		gittest.Write(t, join(p.dir, ".git", "gpg"), "#!/bin/sh\n"+p.touch+"\n")
		if err := os.Chmod(join(p.dir, ".git", "gpg"), 0o755); err != nil {
			t.Fatal(err)
		}
		p.g.Run(p.dir, "config", "gpg.program", join(p.dir, ".git", "gpg"))
		p.g.Run(p.dir, "config", "log.showSignature", "true")
		return p.dir, []string{"log"}
	},
	"promisor over ext": func(t *testing.T, p trap) (string, []string) {
		promise(t, p, "ext::"+p.touch)
		p.g.Run(p.dir, "config", "protocol.ext.allow", "always")
		p.g.Run(p.dir, "config", "protocol.allow", "always")
		return p.dir, []string{"diff", "HEAD"}
	},
	"promisor over ssh": func(t *testing.T, p trap) (string, []string) {
		promise(t, p, "ssh://example.invalid/x")
		p.g.Run(p.dir, "config", "core.sshCommand", p.touch+" #")
		return p.dir, []string{"diff", "HEAD"}
	},
	"promisor with its own program": func(t *testing.T, p trap) (string, []string) {
		promise(t, p, filepath.Dir(p.dir))
		p.g.Run(p.dir, "config", "remote.origin.uploadpack", p.touch+" #")
		return p.dir, []string{"diff", "HEAD"}
	},
	"alias": func(_ *testing.T, p trap) (string, []string) {
		p.g.Run(p.dir, "config", "alias.status", "!"+p.touch)
		p.g.Run(p.dir, "config", "alias.x", "!"+p.touch)
		return p.dir, []string{"x"}
	},
	"pager and editor": func(_ *testing.T, p trap) (string, []string) {
		p.g.Run(p.dir, "config", "core.pager", p.touch)
		p.g.Run(p.dir, "config", "core.editor", p.touch)
		p.g.Run(p.dir, "config", "pager.log", p.touch)
		p.g.Run(p.dir, "config", "pager.status", p.touch)
		return p.dir, []string{"commit", "--allow-empty"}
	},
}

// status is a command without the index: it has to compare what is older than it.
var status = []string{"status"}

// No method starts a program that the files of a repository name.
func TestNothingRuns(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the programs are for a POSIX shell")
	}
	for name, set := range traps {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := gittest.New(t)
			dir := g.Init()
			gittest.Write(t, join(dir, "a.txt"), "text\n")
			g.Run(dir, "add", "a.txt")
			g.Run(dir, "commit", "-q", "-m", "first")
			old(t, join(dir, "a.txt"))
			trace := join(gittest.Dir(t), "trace")
			start, falls := set(t, trap{g: g, dir: dir, touch: "touch " + trace, filter: "touch " + trace + "; cat"})

			ask(t, g, start)
			if _, err := os.Lstat(trace); err == nil {
				t.Fatal("the program was run")
			}
			if falls == nil || !g.AtLeast(2, 39) {
				return // older releases know less, and so fall into less
			}
			old(t, join(start, "a.txt"))
			old(t, join(dir, "a.txt"))
			careless := gittest.Git{TB: t, Env: g.Env.Without("GIT_ALLOW_PROTOCOL"), Home: g.Home}
			out, err := careless.Try(start, falls...)
			if _, missing := os.Lstat(trace); missing != nil {
				t.Errorf("this is no trap: git %v does not run the program: %s, %v", falls, out, err)
			}
		})
	}
}

// ask calls everything that asks the git program, and some things twice.
func ask(t *testing.T, g *gittest.Git, start string) {
	ctx := t.Context()
	r, err := git.Discover(ctx, start, git.Options{Env: g.Env})
	if err != nil {
		t.Logf("discover: %v", err)
		return
	}
	everything(t, r, func(method string, err error) {
		if err != nil {
			t.Logf("%s: %v", method, err)
		}
	})
	_, _, err = r.Changes(ctx)
	t.Logf("Changes: %v", err)
	_, err = r.DiffStat(ctx)
	t.Logf("DiffStat: %v", err)
	_, err = r.Log(ctx, 10)
	t.Logf("Log: %v", err)
	_, err = r.Tracked(ctx)
	t.Logf("Tracked: %v", err)
	_, err = history.Unmerged(ctx, r.Program(), []string{"main"})
	t.Logf("Unmerged: %v", err)
	_, _, err = history.Distance(ctx, r.Program(), "main", "main")
	t.Logf("Distance: %v", err)
}

// includeIf puts the filter into a file that is included on a condition.
func includeIf(t *testing.T, p trap, condition string) (string, []string) {
	gittest.Write(t, join(p.dir, ".gitattributes"), "* filter=x\n")
	gittest.Write(t, join(p.dir, ".git", "more"), "[filter \"x\"]\nclean = \""+p.filter+"\"\n")
	p.g.Run(p.dir, "config", "includeIf."+condition+".path", "more")
	return p.dir, status
}

// submodule adds one.
func submodule(t *testing.T, p trap) string {
	source := p.g.Init()
	gittest.Write(t, join(source, "a.txt"), "text\n")
	p.g.Run(source, "add", "a.txt")
	p.g.Run(source, "commit", "-q", "-m", "first")
	p.g.Run(p.dir, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", source, "sub")
	return join(p.dir, "sub")
}

// promise makes the repository a partial clone of the remote that lacks a file.
func promise(t *testing.T, p trap, url string) {
	hash := p.g.Run(p.dir, "rev-parse", "HEAD:a.txt")
	remove(t, join(p.dir, ".git", "objects", hash[:2], hash[2:]))
	gittest.Write(t, join(p.dir, "a.txt"), "changed\n")
	p.g.Run(p.dir, "config", "core.repositoryFormatVersion", "1")
	p.g.Run(p.dir, "config", "extensions.partialClone", "origin")
	p.g.Run(p.dir, "config", "remote.origin.url", url)
	p.g.Run(p.dir, "config", "remote.origin.promisor", "true")
}

// old makes a file older than the index, so that git has to compare it.
func old(t *testing.T, path string) {
	t.Helper()
	if err := os.Chtimes(path, time.Unix(1, 0), time.Unix(1, 0)); err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
}

// isOld reports whether a file is as old made it.
func isOld(t *testing.T, path string) bool {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.ModTime().Unix() == 1
}

func add(t *testing.T, path, text string) {
	t.Helper()
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	gittest.Write(t, path, string(before)+text)
}

func copyTree(t *testing.T, from, to string) {
	t.Helper()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
}

// A repository that gets another main repository while copse has it open is not read with the
// configuration of that one.
func TestNewCommonDirectory(t *testing.T) {
	t.Parallel()
	g := gittest.New(t)
	dir, other := g.Init(), g.Init()
	gittest.Write(t, join(dir, "a.txt"), "text\n")
	gittest.Write(t, join(dir, ".gitattributes"), "* filter=x\n")
	g.Run(dir, "add", "-A")
	g.Run(dir, "commit", "-q", "-m", "first")
	repo, err := git.Discover(t.Context(), dir, git.Options{Env: g.Env})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := repo.Status(t.Context()); err != nil {
		t.Fatal(err)
	}
	trace := join(gittest.Dir(t), "trace")
	g.Run(dir, "push", "-q", other, "HEAD:refs/heads/copy")
	g.Run(other, "config", "filter.x.clean", "touch "+trace+"; cat")
	gittest.Write(t, join(dir, ".git", "commondir"), join(other, ".git")+"\n")
	old(t, join(dir, "a.txt"))
	if _, err := repo.Status(t.Context()); err == nil {
		t.Error("the other configuration is used")
	}
	if _, err := os.Lstat(trace); err == nil {
		t.Error("the program was run")
	}
}

// The same is true of a directory whose .git is changed to lead to a different repository: git follows it again for
// each command.
func TestNewRepositoryInPlace(t *testing.T) {
	t.Parallel()
	g := gittest.New(t)
	evil := g.Init()
	gittest.Write(t, join(evil, "a.txt"), "text\n")
	gittest.Write(t, join(evil, ".gitattributes"), "* filter=x\n")
	g.Run(evil, "add", "-A")
	g.Run(evil, "commit", "-q", "-m", "first")
	trace := join(gittest.Dir(t), "trace")
	g.Run(evil, "config", "filter.x.clean", "touch "+trace+"; cat")
	for name, swap := range map[string]func(main, linked string) (dir string){
		"a file": func(main, _ string) string {
			if err := os.Rename(join(main, ".git"), join(main, "before")); err != nil {
				t.Fatal(err)
			}
			gittest.Write(t, join(main, ".git"), "gitdir: "+join(evil, ".git")+"\n")
			return main
		},
		"another target": func(_, linked string) string {
			gittest.Write(t, join(linked, ".git"), "gitdir: "+join(evil, ".git")+"\n")
			return linked
		},
		"a repository": func(_, linked string) string {
			remove(t, join(linked, ".git"))
			copyTree(t, join(evil, ".git"), join(linked, ".git"))
			return linked
		},
	} {
		t.Run(name, func(t *testing.T) {
			main := g.Init()
			gittest.Write(t, join(main, "a.txt"), "text\n")
			g.Run(main, "add", "-A")
			g.Run(main, "commit", "-q", "-m", "first")
			linked := join(gittest.Dir(t), "linked")
			g.Run(main, "worktree", "add", "-q", linked)
			before := map[string]*git.Repo{main: discover(t, g, main), linked: discover(t, g, linked)}
			dir := swap(main, linked)
			gittest.Write(t, join(dir, ".gitattributes"), "* filter=x\n")
			old(t, join(dir, "a.txt"))
			if _, err := before[dir].Status(t.Context()); err == nil {
				t.Error("the other repository is used")
			}
			if _, err := os.Lstat(trace); err == nil {
				t.Error("the program was run")
			}
		})
	}
}
