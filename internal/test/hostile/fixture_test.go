package hostile

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/copse-dev/copse/internal/github/githubtest"
	"github.com/copse-dev/copse/internal/jira/jiratest"
	"github.com/copse-dev/copse/internal/test/built"
)

// lab has what all repositories of a test run share.
type lab struct {
	t *testing.T
	// bin has copse, tic and twig-mcp, built without the race detector.
	bin string
	// template is a repository with a home directory, to be copied.
	template string
	env      []string
}

// largestCrowd is the largest number of vectors in one crowd.
const largestCrowd = 30

// firstDoomed is the item before those that servers delete.
const firstDoomed = 3

// newLab builds the programs, starts the services of the user and makes the template.
func newLab(t *testing.T) *lab {
	t.Helper()
	l := &lab{t: t, bin: t.TempDir(), template: t.TempDir()}
	program := filepath.Join(l.bin, "copse")
	if err := built.Build(t.Context(), program, "./programs"); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"tic", "twig-mcp"} {
		if err := os.Link(program, filepath.Join(l.bin, name)); err != nil {
			t.Fatal(err)
		}
	}
	hub, err := githubtest.Start(githubtest.Fixture{Repositories: []githubtest.Repository{
		{Name: "acme/app", PullRequests: []githubtest.PullRequest{{Number: 7, Title: "Log in"}}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(hub.Close)
	jira := jiratest.New(jiratest.Fixture{
		Cloud: true, Login: "ada@example.com", Secret: "t0ken", Issues: []jiratest.Issue{{Key: "PROJ-1", Summary: "Log in"}},
	})
	tracker := httptest.NewServer(jira)
	t.Cleanup(func() {
		jira.Close()
		tracker.Close()
	})
	const when = "2026-01-02T03:04:05Z"
	l.env = []string{
		"PATH=" + l.bin + string(os.PathListSeparator) + os.Getenv("PATH"), "TMPDIR=" + os.TempDir(), "TERM=dumb", "NO_COLOR=1",
		// Nothing leaves this machine: the proxy is one that refuses.
		"https_proxy=http://127.0.0.1:1", "no_proxy=127.0.0.1,localhost",
		"EDITOR=true", "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=Ada", "GIT_AUTHOR_EMAIL=ada@example.com", "GIT_AUTHOR_DATE=" + when,
		"GIT_COMMITTER_NAME=Ada", "GIT_COMMITTER_EMAIL=ada@example.com", "GIT_COMMITTER_DATE=" + when,
		"GITHUB_API_URL=" + hub.URL, "GITHUB_TOKEN=s3cret", "GH_TOKEN=", "GH_HOST=", "JIRA_HOST=" + tracker.URL,
		"JIRA_EMAIL=", "JIRA_TOKEN=", "JIRA_PAT=", "DOCKER_HOST=unix:///no/engine.sock", "NETRC=", "VISUAL=",
	}
	r := &repo{t: t, lab: l, base: l.template}
	for _, dir := range []string{r.root(), r.home(), r.path("sub")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	r.outside("home/.gitconfig", "[init]\n\tdefaultBranch = main\n[user]\n\tname = Ada\n\temail = ada@example.com\n")
	r.outside("home/.netrc", "machine "+strings.TrimPrefix(tracker.URL, "http://")+" login ada@example.com password t0ken\n")
	r.file("a.txt", "one\ntwo\n")
	r.file("docs/b.txt", "b\n")
	for i := 1; i < largestCrowd; i++ {
		r.file(fmt.Sprintf("f%d.txt", i), "f\n")
	}
	r.file("justfile", "# Say hello\nhello:\n    @echo hello\n")
	run(t, r.path("sub"), r.environ(), `git init -q; echo s >s.txt; git add .; git commit -qm s`)
	run(t, r.root(), r.environ(), `
		git init -q
		git -c protocol.file.allow=always submodule --quiet add ../sub sub
		git add .
		git commit -qm start
		tic init
		tic item create Plan
		tic item create Build --parent 1
		tic item create Test
		for title in Ship Sell Keep Drop Shut Wait; do tic item create $title; done
		copse prompt init
		git add .
		git commit -qm items
		git checkout -qb topic
		echo topic >a.txt; git commit -qam topic
		git checkout -qb feature/login main
		echo login >a.txt; git commit -qam login
		git remote add origin https://github.com/acme/app.git
		git worktree add -q ../linked topic
		copse branch init
		copse branch depend feature/login main
		copse branch link --jira PROJ-1 --pr 7
		copse branch link topic --jira PROJ-1 --pr 7
		echo more >>docs/b.txt
		echo new >new.txt
	`)
	return l
}

// run runs shell lines, which must succeed.
func run(t *testing.T, dir string, env []string, script string) {
	t.Helper()
	if said, err := shell(t.Context(), dir, env, "set -e\n"+script); err != nil {
		t.Fatalf("%s\n%v\n%s", script, err, said)
	}
}

// shell runs shell lines and returns what they printed.
func shell(ctx context.Context, dir string, env []string, script string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", script)
	cmd.Dir, cmd.Env, cmd.WaitDelay = dir, env, time.Second
	said, err := cmd.CombinedOutput()
	return string(said), err
}

// repo is a copy of the template that a vector is planted in.
type repo struct {
	t    *testing.T
	lab  *lab
	base string
	// listener stands for a host that the repository names.
	listener net.Listener
	contacts atomic.Int64
	// planted are the names of the vectors, and mark is part of all names that the one that is being
	// planted gives: "" for the first one.
	planted []string
	mark    string
	// extra is what a vector adds to the user's environment.
	extra []string
}

// newRepo copies the template.
func newRepo(t *testing.T, l *lab) *repo {
	t.Helper()
	// The path of a socket is below it. A directory of the subtest would have the vector's name in its path,
	// and copse up refuses a socket with a long path.
	r := &repo{t: t, lab: l, base: l.t.TempDir()}
	t.Cleanup(func() { _ = os.RemoveAll(r.base) })
	// The copies have times other than the index says, so that git looks at each file.
	if err := os.CopyFS(r.base, os.DirFS(l.template)); err != nil {
		t.Fatal(err)
	}
	// A linked worktree and its repository know each other by absolute paths.
	r.outside("linked/.git", "gitdir: "+r.path("root/.git/worktrees/linked")+"\n")
	r.file(".git/worktrees/linked/gitdir", r.path("linked/.git")+"\n")
	if err := os.Mkdir(r.path("run"), 0o700); err != nil {
		t.Fatal(err)
	}
	var err error
	if r.listener, err = new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.listener.Close() })
	go func() {
		for {
			conn, err := r.listener.Accept()
			if err != nil {
				return
			}
			r.contacts.Add(1)
			conn.Close()
		}
	}()
	return r
}

// plant plants vectors beside each other. What planting them has woken does not count.
func (r *repo) plant(members ...vector) {
	r.t.Helper()
	for _, v := range members {
		r.mark = mark(len(r.planted))
		r.planted = append(r.planted, v.name)
		v.plant(r)
	}
	r.woken()
}

// mark returns the mark of the vector that is planted after i others.
func mark(i int) string {
	if i == 0 {
		return ""
	}
	return strconv.Itoa(i)
}

func (r *repo) path(name string) string { return filepath.Join(r.base, filepath.FromSlash(name)) }
func (r *repo) root() string            { return r.path("root") }
func (r *repo) home() string            { return r.path("home") }

// environ returns the environment of the user.
func (r *repo) environ() []string {
	return append(append([]string{
		"HOME=" + r.home(), "USERPROFILE=" + r.home(), "XDG_RUNTIME_DIR=" + r.path("run"), "XDG_CONFIG_HOME=" + r.path("home/.config"),
		"XDG_CACHE_HOME=" + r.path("home/.cache"), "XDG_DATA_HOME=" + r.path("home/.local/share"), "XDG_STATE_HOME=" + r.path("home/.local/state"),
		"GIT_CONFIG_GLOBAL=" + r.path("home/.gitconfig"),
	}, r.lab.env...), r.extra...)
}

// file writes a file of the repository.
func (r *repo) file(name, text string) { r.outside("root/"+name, text) }

// add adds lines to a file of the repository, which may be new.
func (r *repo) add(name, lines string) {
	r.t.Helper()
	f, err := os.OpenFile(r.path("root/"+name), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		r.t.Fatal(err)
	}
	_, err = f.WriteString(lines)
	if err := errors.Join(err, f.Close()); err != nil {
		r.t.Fatal(err)
	}
}

// text returns the text of a file of the repository.
func (r *repo) text(name string) string {
	r.t.Helper()
	text, err := os.ReadFile(r.path("root/" + name))
	if err != nil {
		r.t.Fatal(err)
	}
	return string(text)
}

// outside writes a file beside the repository.
func (r *repo) outside(name, text string) {
	r.t.Helper()
	path := r.path(name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		r.t.Fatal(err)
	}
}

// program writes an executable file that wakes the canary and then does what a filter does.
func (r *repo) program(name string) string {
	r.t.Helper()
	path := filepath.Join(r.root(), filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("#!/bin/sh\nPATH=/usr/bin:/bin\n"+r.touch()+"\nexec cat\n"), 0o755); err != nil {
		r.t.Fatal(err)
	}
	return path
}

// do runs shell lines in the repository, as part of the planting.
func (r *repo) do(script string) {
	r.t.Helper()
	run(r.t, r.root(), r.environ(), script)
}

// canary is the file of the vector that is being planted.
func (r *repo) canary() string { return r.path("canary" + r.mark) }

// filter returns the name of a filter, and the files that have it: all of them, or one of the
// template's where other vectors have been planted already.
func (r *repo) filter() (driver, files string) {
	if r.mark == "" {
		return "x", "*"
	}
	return "x" + r.mark, "f" + r.mark + ".txt"
}

// filtered gives files a filter, in the .gitattributes of the repository.
func (r *repo) filtered() {
	driver, files := r.filter()
	r.add(".gitattributes", files+" filter="+driver+"\n")
}

// touch returns a shell command that wakes the canary.
func (r *repo) touch() string { return "touch '" + r.canary() + "'" }

// bang returns touch as git's commands in configurations write it where a shell is a choice.
func (r *repo) bang() string { return "!" + r.touch() }

// ext returns an address that is a program.
func (r *repo) ext() string { return "ext::sh -c " + strings.ReplaceAll(r.touch(), " ", "% ") }

// url returns an address at the listener.
func (r *repo) url(scheme string) string {
	return scheme + "://" + r.listener.Addr().String() + "/acme/app.git"
}

// config adds a key to the repository's configuration.
func (r *repo) config(key, value string) { r.configIn("root/.git/config", key, value) }

// configIn adds a key to a configuration file.
func (r *repo) configIn(file, key, value string) {
	r.t.Helper()
	first, last := strings.IndexByte(key, '.'), strings.LastIndexByte(key, '.')
	section := key[:first]
	if first != last {
		section += fmt.Sprintf(" %q", key[first+1:last])
	}
	if err := os.MkdirAll(filepath.Dir(r.path(file)), 0o755); err != nil {
		r.t.Fatal(err)
	}
	f, err := os.OpenFile(r.path(file), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		r.t.Fatal(err)
	}
	quoted := strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(value)
	_, err = fmt.Fprintf(f, "[%s]\n\t%s = \"%s\"\n", section, key[last+1:], quoted)
	if err := errors.Join(err, f.Close()); err != nil {
		r.t.Fatal(err)
	}
}

const connected = "a connection was opened"

// woken reports what has woken a canary since the last time, "" for nothing.
func (r *repo) woken() string {
	var what []string
	for i, name := range r.planted {
		if os.Remove(r.path("canary"+mark(i))) == nil {
			what = append(what, ran(name))
		}
	}
	// A vector that is a name can say only the last part of the path.
	for _, dir := range []string{"root", "root/docs", "linked", "home"} {
		if os.Remove(r.path(dir+"/canary")) == nil {
			what = append(what, ran(dir))
		}
	}
	if r.contacts.Swap(0) > 0 {
		what = append(what, connected)
	}
	return strings.Join(what, " and ")
}

// ran says that a vector's program ran, or one in a directory.
func ran(where string) string { return "a program ran (" + where + ")" }

// link makes a symbolic link in the repository in place of a file.
func (r *repo) link(name, target string) {
	r.t.Helper()
	path := filepath.Join(r.root(), filepath.FromSlash(name))
	if err := os.RemoveAll(path); err != nil {
		r.t.Fatal(err)
	}
	if err := os.Symlink(target, path); err != nil {
		r.t.Fatal(err)
	}
}

// path returns the PATH of the user.
func (l *lab) path() string {
	for _, v := range l.env {
		if rest, ok := strings.CutPrefix(v, "PATH="); ok {
			return rest
		}
	}
	return ""
}
