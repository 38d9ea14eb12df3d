package sidebranch_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/git/gittest"
	"github.com/copse-dev/copse/internal/git/sidebranch"
	"github.com/copse-dev/copse/internal/xec"
)

const name = "items"

// repository returns a clone with a commit, and a bare remote.
func repository(t *testing.T, args ...string) (g *gittest.Git, clone, remote string) {
	t.Helper()
	g = gittest.New(t)
	clone = g.Init(args...)
	remote = filepath.Join(filepath.Dir(clone), "remote.git")
	g.Run(filepath.Dir(clone), append([]string{"init", "-q", "--bare"}, append(args, remote)...)...)
	gittest.Write(t, filepath.Join(clone, "code.txt"), "code\n")
	g.Run(clone, "add", ".")
	g.Run(clone, "commit", "-q", "-m", "begin")
	g.Run(clone, "remote", "add", "origin", remote)
	return g, clone, remote
}

func at(t *testing.T, g *gittest.Git, clone string) sidebranch.Repository {
	t.Helper()
	repo, err := git.Discover(t.Context(), clone, git.Options{Env: g.Env})
	if err != nil {
		t.Fatal(err)
	}
	return sidebranch.Repository{Repo: repo, Env: g.Env}
}

func open(t *testing.T, g *gittest.Git, clone string) *sidebranch.Branch {
	t.Helper()
	b, err := sidebranch.Open(t.Context(), at(t, g, clone), name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	return b
}

func must[T any](t *testing.T) func(T, error) T {
	t.Helper()
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func TestHistory(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"", "sha256"} {
		t.Run("format "+format, func(t *testing.T) {
			t.Parallel()
			var args []string
			if format != "" {
				args = []string{"--object-format=" + format}
			}
			g, clone, remote := repository(t, args...)
			ctx, to := t.Context(), sidebranch.Remote{Fetch: remote}
			b := open(t, g, clone)
			commit, tree := must[sidebranch.Commit](t), must[sidebranch.Tree](t)
			if tip := commit(b.Tip(ctx)); tip != "" {
				t.Errorf("a new branch is at %s", tip)
			}
			files := sidebranch.Tree{"config.yml": "a: 1\n", "items/1.md": "one\r\n\x00\xff", "items/2.md": "", "a b/ä.md": "x"}
			first := commit(b.Commit(ctx, files, "First"))
			if err := b.Move(ctx, first, ""); err != nil {
				t.Fatal(err)
			}
			if err := b.Move(ctx, first, ""); !errors.Is(err, sidebranch.ErrMoved) {
				t.Errorf("moved from nothing twice: %v", err)
			}
			if diff := cmp.Diff(files, tree(open(t, g, clone).Read(ctx, first, everything, 1<<20))); diff != "" {
				t.Error(diff)
			}
			if again := commit(b.Commit(ctx, files, "Again", first)); again != first {
				t.Errorf("the same files made a new commit %s", again)
			}
			if err := b.Push(ctx, to, first, ""); err != nil {
				t.Fatal(err)
			}
			files["items/1.md"] = "changed"
			delete(files, "items/2.md")
			second := commit(b.Commit(ctx, files, "Second", first))
			if n := must[int](t)(b.Differences(ctx, first, second, everything)); n != 2 {
				t.Errorf("%d differences", n)
			}
			if base := commit(b.Base(ctx, first, second)); base != first {
				t.Errorf("the base is %s", base)
			}
			if err := b.Push(ctx, to, second, ""); !errors.Is(err, sidebranch.ErrMoved) {
				t.Errorf("pushed over another state: %v", err)
			}
			if err := b.Push(ctx, to, second, first); err != nil {
				t.Fatal(err)
			}
			other := g.Init(args...)
			c := open(t, g, other)
			if got := commit(c.Fetch(ctx, to)); got != second {
				t.Errorf("fetched %s", got)
			}
			if diff := cmp.Diff(files, tree(c.Read(ctx, second, everything, 1<<20))); diff != "" {
				t.Error(diff)
			}
			if refs := g.Run(other, "for-each-ref"); refs != "" {
				t.Errorf("fetching wrote refs: %s", refs)
			}
			if status := g.Run(clone, "status", "--porcelain"); status != "" {
				t.Errorf("the working tree changed: %s", status)
			}
		})
	}
}

// Nothing in a repository's configuration, nor its hooks, nor those of a remote on this
// machine, runs.
func TestNothingOfTheRepositoryRuns(t *testing.T) {
	t.Parallel()
	vectors := map[string]func(t *testing.T, g *gittest.Git, clone, remote, canary string){
		"hooks": func(t *testing.T, _ *gittest.Git, clone, _, canary string) {
			hooks(t, filepath.Join(clone, ".git", "hooks"), canary)
		},
		"core.hooksPath": func(t *testing.T, g *gittest.Git, clone, _, canary string) {
			hooks(t, filepath.Join(clone, "hooks"), canary)
			g.Run(clone, "config", "core.hooksPath", filepath.Join(clone, "hooks"))
		},
		"hooks of the remote": func(t *testing.T, _ *gittest.Git, _, remote, canary string) {
			hooks(t, filepath.Join(remote, "hooks"), canary)
		},
		"core.hooksPath of the remote": func(t *testing.T, g *gittest.Git, _, remote, canary string) {
			hooks(t, filepath.Join(remote, "other"), canary)
			g.Run(remote, "config", "core.hooksPath", filepath.Join(remote, "other"))
		},
		"hook in the configuration": func(t *testing.T, g *gittest.Git, clone, remote, canary string) {
			for _, dir := range []string{clone, remote} {
				for _, event := range []string{"reference-transaction", "pre-receive", "update", "post-receive"} {
					g.Run(dir, "config", "hook.it's "+event+".command", "touch '"+canary+"'")
					g.Run(dir, "config", "hook.it's "+event+".event", event)
				}
			}
		},
	}
	for key, value := range map[string]string{
		"core.sshCommand": "CANARY", "core.askPass": "CANARY", "credential.helper": "!CANARY", "core.gitProxy": "CANARY",
		"core.fsmonitor": "CANARY", "core.pager": "CANARY", "core.editor": "CANARY", "core.alternateRefsCommand": "CANARY",
		"remote.origin.uploadpack": "CANARY", "remote.origin.receivepack": "CANARY", "remote.origin.vcs": "ext",
		"uploadpack.packObjectsHook": "CANARY", "gpg.program": "CANARY", "push.gpgSign": "true", "commit.gpgSign": "true",
		"filter.x.clean": "CANARY", "diff.external": "CANARY", "merge.x.driver": "CANARY", "fetch.recurseSubmodules": "true",
		"url.ext::CANARY .insteadOf": "/", "url.ext::CANARY .pushInsteadOf": "/", "protocol.ext.allow": "always",
	} {
		vectors[key] = func(t *testing.T, g *gittest.Git, clone, remote, canary string) {
			program := filepath.Join(filepath.Dir(clone), "canary.sh")
			script(t, program, canary)
			g.Run(clone, "config", strings.ReplaceAll(key, "CANARY", program), strings.ReplaceAll(value, "CANARY", program))
			if strings.HasPrefix(key, "filter.") {
				gittest.Write(t, filepath.Join(clone, ".git", "info", "attributes"), "* filter=x\n")
			}
		}
	}
	for title, set := range vectors {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			g, clone, remote := repository(t)
			canary := filepath.Join(filepath.Dir(clone), "canary")
			set(t, g, clone, remote, canary)
			ctx, to := t.Context(), sidebranch.Remote{Fetch: remote}
			b := open(t, g, clone)
			commit := must[sidebranch.Commit](t)
			first := commit(b.Commit(ctx, sidebranch.Tree{"a.md": "a"}, "First"))
			if err := b.Move(ctx, first, ""); err != nil {
				t.Fatal(err)
			}
			if err := b.Push(ctx, to, first, ""); err != nil {
				t.Fatal(err)
			}
			second := commit(b.Commit(ctx, sidebranch.Tree{"a.md": "b"}, "Second", first))
			if err := b.Push(ctx, to, second, first); err != nil {
				t.Fatal(err)
			}
			if got := commit(b.Fetch(ctx, to)); got != second {
				t.Errorf("fetched %s", got)
			}
			if _, err := os.Stat(canary); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("a program of the repository ran: %v", err)
			}
		})
	}
}

// A remote on this machine does not check out what it receives: its filters would run.
func TestRemoteWithWorktree(t *testing.T) {
	t.Parallel()
	for _, title := range []string{"a directory with .git", "a directory that is both"} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			g, clone, remote := repository(t)
			canary, program, gitDir := filepath.Join(filepath.Dir(clone), "canary"), filepath.Join(filepath.Dir(clone), "canary.sh"), remote
			script(t, program, canary)
			g.Run(remote, "symbolic-ref", "HEAD", "refs/heads/"+name)
			g.Run(remote, "config", "core.bare", "false")
			if title == "a directory that is both" {
				g.Run(remote, "config", "core.worktree", ".")
			} else {
				gitDir = filepath.Join(remote, ".git")
				if err := errors.Join(os.Rename(remote, remote+"-"), os.Mkdir(remote, 0o755), os.Rename(remote+"-", gitDir)); err != nil {
					t.Fatal(err)
				}
			}
			for key, value := range map[string]string{
				"receive.denyCurrentBranch": "updateInstead", "filter.x.clean": program, "filter.x.smudge": program, "core.fsmonitor": program,
			} {
				g.Run(remote, "--git-dir="+gitDir, "config", key, value)
			}
			gittest.Write(t, filepath.Join(gitDir, "info", "attributes"), "* filter=x\n")
			ctx := t.Context()
			b := open(t, g, clone)
			for _, text := range []string{"a", "b"} {
				commit, err := b.Commit(ctx, sidebranch.Tree{"a.md": text}, "First")
				if err != nil {
					t.Fatal(err)
				}
				if err := b.Push(ctx, sidebranch.Remote{Fetch: remote}, commit, ""); err == nil {
					t.Error("a branch that is checked out is moved")
				}
			}
			if _, err := os.Stat(canary); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("a program of the remote ran: %v", err)
			}
			_, _ = g.Try(clone, "push", "-q", remote, "HEAD:refs/heads/"+name)
			if _, err := os.Stat(canary); err != nil && gitDir != remote {
				t.Errorf("with plain git the program does not run: %v", err)
			}
		})
	}
}

// The canary sings: with plain git, the hooks of both sides run.
func TestCanarySings(t *testing.T) {
	t.Parallel()
	g, clone, remote := repository(t)
	canary := filepath.Join(filepath.Dir(clone), "canary")
	for _, dir := range []string{filepath.Join(clone, ".git", "hooks"), filepath.Join(remote, "hooks")} {
		hooks(t, dir, canary)
		_, _ = g.Try(clone, "push", "-q", "origin", "HEAD:refs/heads/main")
		if err := os.Remove(canary); err != nil {
			t.Errorf("no hook of %s ran: %v", dir, err)
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		g.Commit(clone, "more")
	}
}

func hooks(t *testing.T, dir, canary string) {
	t.Helper()
	for _, hook := range []string{"reference-transaction", "pre-push", "pre-receive", "update", "post-update", "post-receive", "pre-auto-gc", "push-to-checkout", "proc-receive", "pre-commit", "post-commit"} {
		script(t, filepath.Join(dir, hook), canary)
	}
}

func script(t *testing.T, path, canary string) {
	t.Helper()
	gittest.Write(t, path, "#!/bin/sh\necho \"$0\" >> '"+canary+"'\n")
	if err := os.Chmod(path, 0o755); err != nil {
		t.Fatal(err)
	}
}

func TestAddresses(t *testing.T) {
	t.Parallel()
	g, clone, _ := repository(t)
	canary := filepath.Join(filepath.Dir(clone), "canary")
	b := open(t, g, clone)
	for _, address := range []string{
		"", "ext::sh -c 'touch " + canary + "'", "fd::3", "-oProxyCommand=touch", "--upload-pack=touch " + canary, "git://localhost/x",
		"ftp://localhost/x", "x::y", "ssh://-oProxyCommand=touch/x", "transport::address", "a\nb", "EXT::sh",
	} {
		_, err := b.Fetch(t.Context(), sidebranch.Remote{Fetch: address})
		if _, ok := errors.AsType[*sidebranch.UnreachableError](err); !ok {
			t.Errorf("%q: fetched: %v", address, err)
		}
		// Git has a limit of its own, which is not what refuses them.
		if address != "" && !strings.HasPrefix(address, "ssh:") && !strings.Contains(err.Error(), "has an unsupported scheme") {
			t.Errorf("%q: %v", address, err)
		}
		err = b.Push(t.Context(), sidebranch.Remote{Fetch: clone, Push: address}, "", "")
		if address != "" && err == nil {
			t.Errorf("%q: pushed", address)
		}
	}
	if _, err := os.Stat(canary); !errors.Is(err, os.ErrNotExist) {
		t.Error("an address ran a program")
	}
	_, err := b.Fetch(t.Context(), sidebranch.Remote{Fetch: "http://ada:secret@127.0.0.1:1/x.git"})
	if err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("the error is %v", err)
	}
	// Some versions of git show the login in their own messages.
	said := &xec.ExitError{Program: "git", Stderr: "fatal: unable to access 'https://ada:secret@localhost/x.git/': refused\nssh://ada:secret@localhost"}
	for _, err := range []error{said, fmt.Errorf("run git for https://ada:secret@localhost/: %w", errors.New("refused"))} {
		if e := (&sidebranch.UnreachableError{Doing: "fetch from", Err: err}); strings.Contains(e.Error(), "secret") || !strings.Contains(e.Error(), "localhost") {
			t.Errorf("the error is %v", e)
		}
	}
}

// The forms of an address that lead to the same repository are one destination; any other address is
// another one, also if it only looks similar.
func TestDestinations(t *testing.T) {
	t.Parallel()
	of := func(fetch, push string) string { return sidebranch.Remote{Fetch: fetch, Push: push}.Destination() }
	known := of("https://github.com/ada/notes", "")
	for _, same := range []string{
		"https://github.com/ada/notes.git", "https://x-access-token:ghp_1@GitHub.com/ada/notes/", "git@github.com:ada/notes.git",
		"git@github.com:/ada/notes", "ssh://git@github.com/ada/notes.git",
	} {
		if got := of(same, ""); got != known {
			t.Errorf("%s is %q", same, got)
		}
		if got := of("https://github.com/ada/notes", same); got != known {
			t.Errorf("%s for a push is %q", same, got)
		}
	}
	for _, other := range []string{
		"http://github.com/ada/notes", "https://github.com:8443/ada/notes", "https://evil.example#@github.com/ada/notes",
		"https://evil.example\\@github.com/ada/notes", "https://evil.example?@github.com/ada/notes", "https://github.com@evil.example/ada/notes",
		"mallory@github.com:ada/notes", "github.com:ada/notes", "ssh://git@github.com:22/ada/notes", "git@github.com.evil.example:ada/notes",
		"https://github.com/ada/Notes", "https://github.com/mallory/../ada/notes", "github.com/ada/notes", "git@github.com-2:ada/notes",
		"ssh://mallory@github.com/ada/notes", "https://a@evil.example/@github.com/ada/notes",
	} {
		if of(other, "") == known || of("https://github.com/ada/notes", other) == known {
			t.Errorf("%s is the same", other)
		}
	}
}

// A remote does not hide git's own reason, and its text is quoted, however it arrives: after "remote:",
// in an error that it sends or that git quotes, and without any mark over ssh.
func TestReasons(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("a script takes the place of git")
	}
	const http, ssh = "https://host.example/x", "git@host.example:x"
	unreadable := "fatal: Could not read from remote repository.\n\nPlease make sure you have the correct access rights\nand the repository exists.\n"
	for _, tt := range []struct{ address, stderr, want string }{
		{http, "fatal: unable to access 'https://host.example/x/': no route\nPlease make sure", "unable to access 'https://host.example/x/': no route"},
		{http, "remote: Denied to ada.\nfatal: unable to access 'https://host.example/x/': error: 403", `unable to access 'https://host.example/x/': error: 403; the remote says "Denied to ada."`},
		{http, "remote: done. Call \"deploy\" now", `the remote says "done. Call \"deploy\" now"`},
		{http, "remote:\nremote: " + strings.Repeat("x", 300) + "\n", `the remote says "` + strings.Repeat("x", 199) + `…"`},
		{http, "fatal: remote error: run this\nfatal: unable to access 'run that'", `the remote says "run this"`},
		{http, "fatal: remote error: " + strings.Repeat("x", 3000), `the remote says "` + strings.Repeat("x", 199) + `…"`},
		{http, "error: remote unpack failed: run this\nerror: failed to push some refs to 'https://host.example/x'", `the remote says "run this"`},
		{http, "fatal: invalid server response; got 'run this\nfatal: run that'", `invalid server response; got; git or the remote says "'run this"`},
		{http, "fatal: protocol error: run this", `protocol error; git or the remote says "run this"`},
		{http, "fatal: early EOF", "early EOF"},
		{ssh, "Host key verification failed.\r\n" + unreadable, "Host key verification failed. Run `git fetch` in a terminal to see what ssh asks"},
		{ssh, "git@host.example: Permission denied (publickey).\r\n" + unreadable, "git@host.example: Permission denied (publickey). Run `git fetch` in a terminal to see what ssh asks"},
		{ssh, "ssh: connect to host host.example port 22: Connection refused\r\n" + unreadable, "ssh: connect to host host.example port 22: Connection refused"},
		{ssh, "ERROR: Repository not found.\n" + unreadable, `Could not read from remote repository; ssh or the remote says "ERROR: Repository not found."`},
		{ssh, "run this now", `ssh or the remote says "run this now"`},
		{ssh, "fatal: run this now\n" + unreadable, `Could not read from remote repository; ssh or the remote says "run this now"`},
		{ssh, "ssh: connect to host x port 22: run this", `ssh or the remote says "ssh: connect to host x port 22: run this"`},
		{ssh, "fatal: remote error: run this", `the remote says "run this"`},
	} {
		g, clone, _ := repository(t)
		standInForRemote(t, g, "cat >&2 <<'END'\n"+tt.stderr+"\nEND")
		_, err := open(t, g, clone).Fetch(t.Context(), sidebranch.Remote{Fetch: tt.address})
		if _, ok := errors.AsType[*sidebranch.UnreachableError](err); !ok || err.Error() != "cannot reach the remote: "+tt.want {
			t.Errorf("%q: %v", tt.stderr, err)
		}
	}
}

// standInForRemote makes a git that fails after a command where it would ask a remote.
func standInForRemote(t *testing.T, g *gittest.Git, command string) {
	t.Helper()
	dir := gittest.Dir(t)
	real, _ := g.Env.LookPath("git")
	gittest.Write(t, filepath.Join(dir, "git"), "#!/bin/sh\ncase \"$*\" in *ls-remote*)\n"+command+"\nexit 1;;\nesac\nexec '"+real+"' \"$@\"\n")
	if err := os.Chmod(filepath.Join(dir, "git"), 0o755); err != nil {
		t.Fatal(err)
	}
	g.Env = g.Env.With("PATH=" + dir + string(filepath.ListSeparator) + os.Getenv("PATH"))
}

// Git gets an address in the form that it allows, and a limit for silent remotes, because copse may be
// killed before it can end git.
func TestWhatGitGets(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("a script takes the place of git")
	}
	g, clone, _ := repository(t)
	standInForRemote(t, g, "for a; do case $a in *://*|*]:*) echo \"$a $GIT_HTTP_LOW_SPEED_LIMIT $GIT_HTTP_LOW_SPEED_TIME\" >&2;; esac; done")
	b := open(t, g, clone)
	for address, want := range map[string]string{
		"HTTPS://Host/X": "https://Host/X 1 180", "ssh://[::1]/x": `ssh or the remote says "ssh://[::1]/x 1 180"`, "[::1]:x/y": `ssh or the remote says "[::1]:x/y 1 180"`,
	} {
		if _, err := b.Fetch(t.Context(), sidebranch.Remote{Fetch: address}); err == nil || err.Error() != "cannot reach the remote: "+want {
			t.Errorf("%s: %v", address, err)
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	g, clone, _ := repository(t)
	ctx, repo := t.Context(), at(t, g, clone)
	for _, bad := range []string{"", "a..b", "-x", "a b", "HEAD~1", "@{-1}"} {
		if b, err := sidebranch.Open(ctx, repo, bad); err == nil {
			_ = b.Close()
			t.Errorf("the name %q is accepted", bad)
		}
	}
	g.Run(clone, "symbolic-ref", "refs/heads/"+name, "refs/heads/main")
	if _, err := sidebranch.Open(ctx, repo, name); err == nil || !strings.Contains(err.Error(), "symbolic ref") {
		t.Errorf("a symbolic ref is accepted: %v", err)
	}
	g.Run(clone, "symbolic-ref", "--delete", "refs/heads/"+name)
	objects := filepath.Join(clone, ".git", "objects")
	if err := os.Rename(objects, objects+".away"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(objects+".away", objects); err != nil {
		t.Skip(err)
	}
	if _, err := sidebranch.Open(ctx, repo, name); err == nil {
		t.Error("objects behind a link are accepted")
	}
}

// A process that was killed leaves its directory; the next one removes it, but neither those
// in use nor what others made.
func TestDirectoriesOfKilledProcesses(t *testing.T) {
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	t.Setenv("TMP", temporary) // on Windows
	g, clone, _ := repository(t)
	gittest.Write(t, filepath.Join(temporary, "copse-git-left", "copse.lock"), "")
	gittest.Write(t, filepath.Join(temporary, "copse-git-left", "index"), "left\n")
	gittest.Write(t, filepath.Join(temporary, "copse-git-new", "copse.lock"), "")
	gittest.Write(t, filepath.Join(temporary, "copse-git-other", "file"), "other\n")
	gittest.Write(t, filepath.Join(temporary, "kept", "copse.lock"), "")
	if err := os.Symlink("kept", filepath.Join(temporary, "copse-git-link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(temporary, "copse-git-left"), 0o700); err != nil {
		t.Fatal(err)
	}
	before := time.Now().Add(-time.Hour)
	age := func(dir string) {
		t.Helper()
		if err := os.Chtimes(filepath.Join(temporary, dir, "copse.lock"), before, before); err != nil {
			t.Fatal(err)
		}
	}
	age("copse-git-left")
	age("kept")
	first := open(t, g, clone)
	for _, dir := range must[[]string](t)(filepath.Glob(filepath.Join(temporary, "copse-git-[0-9]*"))) {
		age(filepath.Base(dir))
	}
	second := open(t, g, clone)
	entries := must[[]os.DirEntry](t)(os.ReadDir(temporary))
	var fixed []string
	for _, e := range entries {
		if strings.Trim(strings.TrimPrefix(e.Name(), "copse-git-"), "0123456789") != "" {
			fixed = append(fixed, e.Name())
		}
	}
	if diff := cmp.Diff([]string{"copse-git-link", "copse-git-new", "copse-git-other", "kept"}, fixed); diff != "" {
		t.Error(diff)
	}
	if got, want := len(entries)-len(fixed), 2; got != want {
		t.Errorf("%d directories are in use, want %d", got, want)
	}
	for _, b := range []*sidebranch.Branch{first, second} {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}
	if entries = must[[]os.DirEntry](t)(os.ReadDir(temporary)); len(entries) != len(fixed) {
		t.Errorf("%d entries are left, want %d", len(entries), len(fixed))
	}
}

// Directories that contain one another have any number of files in a small repository.
func TestTooManyFiles(t *testing.T) {
	t.Parallel()
	g, clone, _ := repository(t)
	b := open(t, g, clone)
	entry := "100644 blob " + strings.TrimSpace(g.Run(clone, "hash-object", "-w", "code.txt"))
	for range 2 {
		entry = "040000 tree " + treeOf(t, g, clone, entry, 64)
	}
	commit := sidebranch.Commit(strings.TrimSpace(g.Run(clone, "commit-tree", "-m", "x", treeOf(t, g, clone, entry, 64))))
	if _, err := b.Read(t.Context(), commit, everything, 8<<20); err == nil || !strings.Contains(err.Error(), "has 262144 files, and a branch can have at most 250000") {
		t.Errorf("got %v", err)
	}
}

// treeOf writes a tree with an entry under so many names.
func treeOf(t *testing.T, g *gittest.Git, dir, entry string, names int) string {
	t.Helper()
	var tree strings.Builder
	for i := range names {
		fmt.Fprintf(&tree, "%s\t%d\n", entry, i)
	}
	mktree := exec.CommandContext(t.Context(), "git", "mktree")
	mktree.Dir, mktree.Env, mktree.Stdin = dir, g.Env, strings.NewReader(tree.String())
	return strings.TrimSpace(string(must[[]byte](t)(mktree.Output())))
}

// A git that a killed process has started keeps the branch locked for a moment.
func TestMoveWaits(t *testing.T) {
	t.Parallel()
	g, clone, _ := repository(t)
	b := open(t, g, clone)
	commit := must[sidebranch.Commit](t)(b.Commit(t.Context(), sidebranch.Tree{"a.md": "a"}, "First"))
	lock := filepath.Join(clone, ".git", "refs", "heads", name+".lock")
	gittest.Write(t, lock, "")
	time.AfterFunc(100*time.Millisecond, func() { _ = os.Remove(lock) })
	if err := b.Move(t.Context(), commit, ""); err != nil {
		t.Fatal(err)
	}
	if tip := must[sidebranch.Commit](t)(b.Tip(t.Context())); tip != commit {
		t.Errorf("the branch is at %q", tip)
	}
}

// A move that has begun ends by itself: git that is killed meanwhile can leave the branch locked.
func TestMoveIsNotInterrupted(t *testing.T) {
	t.Parallel()
	g, clone, _ := repository(t)
	ctx, cancel := context.WithCancel(t.Context())
	runs := g.During("update-ref", cancel)
	b := open(t, g, clone)
	commit := must[sidebranch.Commit](t)(b.Commit(ctx, sidebranch.Tree{"a.md": "a"}, "First"))
	if err := b.Move(ctx, commit, ""); err != nil {
		t.Fatal(err)
	}
	if tip := must[sidebranch.Commit](t)(b.Tip(t.Context())); tip != commit || runs() != 1 {
		t.Errorf("the branch is at %q after %d runs", tip, runs())
	}
}

// A remote can announce commits that it never sends.
func TestAnnouncesAnotherCommit(t *testing.T) {
	t.Parallel()
	g, clone, remote := repository(t)
	// A git for tests may be built without HTTP.
	g.Env = g.Env.With("PATH=" + os.Getenv("PATH"))
	g.Run(clone, "push", "-q", "origin", "HEAD:refs/heads/"+name)
	g.Run(remote, "update-server-info")
	files := http.FileServer(http.Dir(remote))
	var asked atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// Every other announcement names a commit that does not exist.
		if strings.HasSuffix(r.URL.Path, "/info/refs") {
			if n := asked.Add(1); n%2 == 1 {
				fmt.Fprintf(w, "%040x\trefs/heads/%s\n", n, name)
				return
			}
		}
		files.ServeHTTP(w, r)
	}))
	defer server.Close()
	b := open(t, g, clone)
	commit, err := b.Fetch(t.Context(), sidebranch.Remote{Fetch: server.URL})
	if _, ok := errors.AsType[*sidebranch.UnreachableError](err); !ok || !strings.Contains(err.Error(), "5 times, it did not send the commit that it announced") {
		t.Errorf("got %q, %v after %d requests", commit, err, asked.Load())
	}
}

// A remote cannot make git read from, or write to, another server, for which the user may have a login,
// unless the user's configuration allows it.
func TestRedirects(t *testing.T) {
	t.Parallel()
	g, clone, remote := repository(t)
	// A git for tests may be built without HTTP.
	g.Env = g.Env.With("PATH=" + os.Getenv("PATH"))
	g.Run(clone, "push", "-q", "origin", "HEAD:refs/heads/"+name)
	g.Run(remote, "update-server-info")
	var asked atomic.Int32
	files := http.FileServer(http.Dir(remote))
	private := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		files.ServeHTTP(w, r)
	}))
	defer private.Close()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, private.URL+r.URL.RequestURI(), http.StatusFound)
	}))
	defer server.Close()
	b := open(t, g, clone)
	_, fetched := b.Fetch(t.Context(), sidebranch.Remote{Fetch: server.URL})
	pushed := b.Push(t.Context(), sidebranch.Remote{Fetch: server.URL}, sidebranch.Commit(g.Run(clone, "rev-parse", "HEAD")), "")
	for _, err := range []error{fetched, pushed} {
		if _, ok := errors.AsType[*sidebranch.UnreachableError](err); !ok || !strings.Contains(err.Error(), "git remote set-url") {
			t.Errorf("got %v", err)
		}
	}
	if n := asked.Load(); n > 0 {
		t.Errorf("git asked the other server %d times", n)
	}
	g.Run(clone, "config", "--global", "http."+server.URL+".followRedirects", "initial")
	if _, err := b.Fetch(t.Context(), sidebranch.Remote{Fetch: server.URL}); err != nil {
		t.Errorf("although the user allows it: %v", err)
	}
}

// The user's rules that rewrite addresses apply once, before an address is checked.
func TestInsteadOf(t *testing.T) {
	t.Parallel()
	g, clone, remote := repository(t)
	g.Env = g.Env.With("PATH=" + os.Getenv("PATH"))
	g.Run(clone, "push", "-q", "origin", "HEAD:refs/heads/"+name)
	want := sidebranch.Commit(strings.TrimSpace(g.Run(clone, "rev-parse", "HEAD")))
	dir := filepath.Dir(remote)
	ran := filepath.Join(dir, "ran")
	gittest.Write(t, filepath.Join(remote, "hooks", "pre-receive"), "#!/bin/sh\ntouch '"+ran+"'\n")
	if err := os.Chmod(filepath.Join(remote, "hooks", "pre-receive"), 0o755); err != nil {
		t.Fatal(err)
	}
	for base, prefix := range map[string]string{
		dir + "/mirror/": "https://example.invalid/", dir + "/": "no-scheme::", dir + "/none/": dir + "/", "ext::true": remote,
	} {
		g.Run(clone, "config", "--global", "--add", "url."+base+".insteadOf", prefix)
	}
	g.Run(clone, "config", "--global", "url."+dir+"/.pushInsteadOf", "https://push.invalid/")
	g.Run(clone, "config", "--global", "url.ext::false .insteadOf", "bad:")
	if err := os.Mkdir(filepath.Join(dir, "mirror"), 0o700); err != nil {
		t.Fatal(err)
	}
	b := open(t, g, clone)
	for _, address := range []string{"https://example.invalid/../remote.git", "no-scheme::remote.git"} {
		if got, err := b.Fetch(t.Context(), sidebranch.Remote{Fetch: address}); err != nil || got != want {
			t.Errorf("%s: fetched %q, %v", address, got, err)
		}
	}
	next, err := b.Commit(t.Context(), sidebranch.Tree{"a.md": "a"}, "Next", want)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Push(t.Context(), sidebranch.Remote{Fetch: "https://example.invalid/../remote.git"}, next, want); err != nil {
		t.Error(err)
	}
	if err := b.Push(t.Context(), sidebranch.Remote{Fetch: "https://push.invalid/remote.git"}, want, next); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(ran); err == nil {
		t.Error("a hook ran")
	}
	if _, err := b.Fetch(t.Context(), sidebranch.Remote{Fetch: "bad:x"}); err == nil || !strings.Contains(err.Error(), "unsupported scheme") {
		t.Errorf("error is %v", err)
	}
}

// A server can name another address of the same repository. That of any other repository is in the error.
func TestSameRepository(t *testing.T) {
	t.Parallel()
	g, clone, remote := repository(t)
	// A git for tests may be built without HTTP.
	g.Env = g.Env.With("PATH=" + os.Getenv("PATH"))
	g.Run(clone, "push", "-q", "origin", "HEAD:refs/heads/"+name)
	g.Run(remote, "update-server-info")
	files := http.StripPrefix("/x.git", http.FileServer(http.Dir(remote)))
	var server *httptest.Server
	server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, password, _ := r.BasicAuth(); password != "token" && !strings.HasPrefix(r.URL.Path, "/tls") {
			w.Header().Set("WWW-Authenticate", `Basic realm="x"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		refs := strings.TrimPrefix(r.URL.RequestURI(), "/x")
		switch first, _, _ := strings.Cut(r.URL.Path[1:], "/"); first {
		case "x.git":
			files.ServeHTTP(w, r)
		case "x":
			http.Redirect(w, r, "/x.git"+refs, http.StatusMovedPermanently)
		case "tls":
			w.Header().Set("Location", strings.Replace(server.URL, "http:", "https:", 1)+r.URL.RequestURI())
			w.WriteHeader(http.StatusPermanentRedirect)
		case "loop.git", "loop":
			http.Redirect(w, r, "/"+map[string]string{"loop": "loop.git", "loop.git": "loop"}[first]+"/info/refs", http.StatusFound)
		case "strange":
			http.Redirect(w, r, "/;reboot/info/refs", http.StatusFound)
		default:
			http.Redirect(w, r, "/x.git/info/refs", http.StatusFound)
		}
	}))
	defer server.Close()
	b := open(t, g, clone)
	host := strings.TrimPrefix(server.URL, "http://")
	got, err := b.Fetch(t.Context(), sidebranch.Remote{Fetch: "http://ada:token@" + host + "/x"})
	if err != nil || string(got) != strings.TrimSpace(g.Run(clone, "rev-parse", "HEAD")) {
		t.Errorf("fetched %q, %v", got, err)
	}
	b = open(t, g, clone)
	if err := b.Push(t.Context(), sidebranch.Remote{Fetch: "http://ada:token@" + host + "/x/"}, got, ""); err != nil {
		t.Error(err)
	}
	for address, want := range map[string]string{
		"http://ada:token@" + host + "/y":       "returned error: 302; it names another address, http://" + host + "/x.git, which copse does not follow",
		"http://ada:token@" + host + "/loop":    "returned error: 302; it names another address, which copse does not follow",
		"http://ada:token@" + host + "/strange": "returned error: 302; it names another address, which copse does not follow",
		"http://ada:token@" + host + "/tls":     "returned error: 308; it names another address, https://" + host + "/tls, which copse does not follow",
		server.URL + "/tls":                     "https://" + host + "/tls/': ",
	} {
		repo := at(t, g, clone)
		repo.Env, repo.Unattended = repo.Env.With("GIT_ASKPASS=false"), true
		b, err := sidebranch.Open(t.Context(), repo, name)
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		if _, err := b.Fetch(t.Context(), sidebranch.Remote{Fetch: address}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", address, err)
		}
	}
}

// A remote that asks for a login opens no window and no prompt, unless the user has asked for the transfer. A
// program that answers without a question gives its login in both cases.
func TestUnattended(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("a script asks for the login")
	}
	g, clone, remote := repository(t)
	g.Env = g.Env.With("PATH="+os.Getenv("PATH"), "DISPLAY=:7", "WAYLAND_DISPLAY=wayland-7", "WAYLAND_SOCKET=7")
	g.Run(clone, "push", "-q", "origin", "HEAD:refs/heads/"+name)
	g.Run(remote, "update-server-info")
	files := http.FileServer(http.Dir(remote))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, password, _ := r.BasicAuth(); user != "ada" || password != "token" {
			w.Header().Set("WWW-Authenticate", `Basic realm="x"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		files.ServeHTTP(w, r)
	}))
	defer server.Close()
	dir := gittest.Dir(t)
	const answer = "case $1 in User*) echo ada;; *) echo token;; esac\n"
	for program, does := range map[string]string{
		// What opens a window fails without a display.
		"window": `test -n "$DISPLAY$WAYLAND_DISPLAY$WAYLAND_SOCKET" || exit 1` + "\n" + answer, "answer.sh": answer, "ksshaskpass": answer, "SSH-askpass.exe": answer,
		"git-credential-window": "test $1 = git && silent=$(git config --get credential.interactive) || silent=$GCM_INTERACTIVE\n" +
			"test $2 = get && test -z \"$silent\" && printf 'username=ada\npassword=token\n'\n",
	} {
		gittest.Write(t, filepath.Join(dir, program), "#!/bin/sh\n"+does)
		if err := os.Chmod(filepath.Join(dir, program), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		how        string
		settings   []string
		env        []string
		unattended bool // whether the login is there
	}{
		{how: "an answer for git", env: []string{"GIT_ASKPASS=" + dir + "/answer.sh"}, unattended: true},
		{how: "an answer in the settings", settings: []string{"core.askPass", dir + "/answer.sh"}, unattended: true},
		{how: "the environment has precedence", settings: []string{"core.askPass", dir + "/answer.sh"}, env: []string{"GIT_ASKPASS=" + dir + "/window"}},
		{how: "a window", env: []string{"GIT_ASKPASS=" + dir + "/window"}},
		{how: "a known window", env: []string{"GIT_ASKPASS=" + dir + "/ksshaskpass"}},
		{how: "a known window of Windows", settings: []string{"core.askPass", dir + "/SSH-askpass.exe"}},
		{how: "a question for ssh", env: []string{"SSH_ASKPASS=" + dir + "/answer.sh"}},
		{how: "a helper", settings: []string{"credential.helper", dir + "/git-credential-window git"}},
		{how: "a helper beside an answer that is none", settings: []string{"credential.helper", dir + "/git-credential-window gcm"}, env: []string{"GIT_ASKPASS=/bin/false"}},
	} {
		env := g.Env.With(c.env...)
		if c.settings != nil {
			env = env.With("GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0="+c.settings[0], "GIT_CONFIG_VALUE_0="+c.settings[1])
		}
		for _, unattended := range []bool{true, false} {
			repo := at(t, g, clone)
			repo.Env, repo.Unattended = env, unattended
			b, err := sidebranch.Open(t.Context(), repo, name)
			if err != nil {
				t.Fatal(err)
			}
			_, err = b.Fetch(t.Context(), sidebranch.Remote{Fetch: server.URL})
			if got, want := err == nil, !unattended || c.unattended; got != want {
				t.Errorf("%s, unattended %v: login %v, %v", c.how, unattended, got, err)
			}
			_ = b.Close()
		}
	}
}

// everything makes all files relevant.
func everything(string) bool { return true }

// Names that share a content count with its size: a few bytes of a remote would take all memory.
func TestManyNamesOfOneFile(t *testing.T) {
	t.Parallel()
	g, clone, _ := repository(t)
	b := open(t, g, clone)
	const size, limit = 7 << 20, 512 << 20
	gittest.Write(t, filepath.Join(clone, "large"), strings.Repeat("x", size))
	entry := "100644 blob " + strings.TrimSpace(g.Run(clone, "hash-object", "-w", "large"))
	read := func(names int) error {
		tree := treeOf(t, g, clone, entry, names)
		_, err := b.Read(t.Context(), sidebranch.Commit(strings.TrimSpace(g.Run(clone, "commit-tree", "-m", "x", tree))), everything, size)
		return err
	}
	if err := read(limit / size); err != nil {
		t.Error(err)
	}
	if err := read(limit/size + 1); err == nil || !strings.Contains(err.Error(), "more than 512 MiB together") {
		t.Errorf("error is %v", err)
	}
}

// Neither git, while it receives a branch, nor copse has the content of a file in memory that is too
// large, which a few bytes of a remote can be. A file that is not relevant is not read.
func TestLargeFile(t *testing.T) {
	g, clone, remote := repository(t)
	b := open(t, g, clone)
	const size, limit = 64 << 20, 8 << 20
	gittest.Write(t, filepath.Join(clone, "large"), strings.Repeat("x", size))
	gittest.Write(t, filepath.Join(clone, "small"), "small")
	g.Run(clone, "add", "large", "small")
	commit := sidebranch.Commit(strings.TrimSpace(g.Run(clone, "commit-tree", "-m", "x", strings.TrimSpace(g.Run(clone, "write-tree")))))
	g.Run(clone, "push", "-q", remote, string(commit)+":refs/heads/"+name)
	other := filepath.Join(filepath.Dir(clone), "other")
	g.Run(filepath.Dir(clone), "init", "-q", other)
	g.Env = g.Env.With("GIT_ALLOC_LIMIT=32m")
	if _, err := open(t, g, other).Fetch(t.Context(), sidebranch.Remote{Fetch: remote}); err != nil {
		t.Error(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := b.Read(t.Context(), commit, everything, limit)
	if err == nil || !strings.Contains(err.Error(), `"large" has 67108864 bytes; the limit is 8388608`) {
		t.Errorf("error is %v", err)
	}
	tree, err := b.Read(t.Context(), commit, func(name string) bool { return name == "small" }, limit)
	if err != nil || len(tree) != 1 || tree["small"] != "small" {
		t.Errorf("%d files, %v", len(tree), err)
	}
	if runtime.ReadMemStats(&after); after.TotalAlloc-before.TotalAlloc > size/4 {
		t.Errorf("it took %d bytes of memory", after.TotalAlloc-before.TotalAlloc)
	}
}

// A remote whose two sides are different repositories is not taken for one that somebody
// changes all the time.
func TestOutdatedRemote(t *testing.T) {
	t.Parallel()
	g, clone, remote := repository(t)
	b, ctx, to := open(t, g, clone), t.Context(), sidebranch.Remote{Fetch: remote}
	first, err := b.Commit(ctx, sidebranch.Tree{"a.md": "a"}, "First")
	if err != nil {
		t.Fatal(err)
	}
	second, err := b.Commit(ctx, sidebranch.Tree{"a.md": "b"}, "Second")
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Push(ctx, to, first, ""); err != nil {
		t.Fatal(err)
	}
	for n := 1; n <= 8; n++ {
		_, ended := errors.AsType[*sidebranch.UnreachableError](b.Push(ctx, to, second, ""))
		if want := n == 8; ended != want {
			t.Errorf("attempt %d: ended is %v", n, ended)
		}
	}
}

// A remote with more branches than anyone looks at costs little memory.
func TestManyAnnouncedBranches(t *testing.T) {
	t.Parallel()
	g, clone, remote := repository(t)
	g.Env = g.Env.With("PATH=" + os.Getenv("PATH"))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/info/refs") {
			http.NotFound(w, r)
			return
		}
		for n := range 1 << 14 {
			fmt.Fprintf(w, "%040x\trefs/heads/%d/refs/heads/%s\n", n, n, name)
		}
	}))
	defer server.Close()
	_, err := open(t, g, clone).Fetch(t.Context(), sidebranch.Remote{Fetch: server.URL})
	if err == nil || !strings.Contains(err.Error(), "more than 1 MB") {
		t.Errorf("error is %v for %s", err, remote)
	}
}

// A remote whose branch stays locked is not taken for one that somebody moves.
func TestLockedAtRemote(t *testing.T) {
	t.Parallel()
	g, clone, remote := repository(t)
	b, ctx, to := open(t, g, clone), t.Context(), sidebranch.Remote{Fetch: remote}
	first, err := b.Commit(ctx, sidebranch.Tree{"a.md": "a"}, "First")
	if err != nil {
		t.Fatal(err)
	}
	lock := filepath.Join(remote, "refs", "heads", name+".lock")
	gittest.Write(t, lock, "")
	err = b.Push(ctx, to, first, "")
	if _, ok := errors.AsType[*sidebranch.UnreachableError](err); !ok || !strings.Contains(err.Error(), "cannot lock ref") {
		t.Errorf("got %v", err)
	}
	time.AfterFunc(300*time.Millisecond, func() { _ = os.Remove(lock) })
	if err := b.Push(ctx, to, first, ""); err != nil {
		t.Error(err)
	}
}

// Git that talks to a remote runs under a guard, which ends what git starts when copse is killed.
func TestTransfersAreGuarded(t *testing.T) {
	t.Parallel()
	g, clone, remote := repository(t)
	dir := gittest.Dir(t)
	self, log := filepath.Join(dir, "self"), filepath.Join(dir, "log")
	// A guard gets its level, the grace, the state of a terminal, and the program with its arguments.
	if err := os.WriteFile(self, []byte("#!/bin/sh\necho \"$1 $*\" >>'"+log+"'\nprogram=$4\nshift 5\nexec \"$program\" \"$@\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	repo, err := git.Discover(t.Context(), clone, git.Options{Env: g.Env, Self: self})
	if err != nil {
		t.Fatal(err)
	}
	b, err := sidebranch.Open(t.Context(), sidebranch.Repository{Repo: repo, Env: g.Env}, name)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	ctx, to := t.Context(), sidebranch.Remote{Fetch: remote}
	commit := must[sidebranch.Commit](t)(b.Commit(ctx, sidebranch.Tree{"a.md": "a"}, "First"))
	if err := b.Push(ctx, to, commit, ""); err != nil {
		t.Fatal(err)
	}
	other := g.Init()
	g.Run(other, "fetch", "-q", remote, name)
	g.Run(other, "commit-tree", "-m", "next", "-p", "FETCH_HEAD", "FETCH_HEAD^{tree}")
	g.Run(other, "push", "-q", remote, g.Run(other, "commit-tree", "-m", "next", "-p", "FETCH_HEAD", "FETCH_HEAD^{tree}")+":refs/heads/"+name)
	if _, err := b.Fetch(ctx, to); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"inner .* push ", "inner .* ls-remote ", "inner .* fetch "} {
		if !regexp.MustCompile(want).Match(text) {
			t.Errorf("no %q in:\n%s", want, text)
		}
	}
}
