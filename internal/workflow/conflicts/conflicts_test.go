package conflicts_test

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/git/gittest"
	"github.com/copse-dev/copse/internal/session"
	"github.com/copse-dev/copse/internal/workflow/conflicts"
	"github.com/copse-dev/copse/internal/workflow/stack"
)

// world is a repository with worktrees, in which git notes how it is started.
type world struct {
	*gittest.Git
	root, cache, log string
}

// now returns soon after the commits that package gittest makes.
func now() time.Time { return time.Date(2026, 1, 10, 0, 0, 0, 0, time.UTC) }

func begin(t *testing.T) *world {
	t.Helper()
	g := gittest.New(t)
	if !g.AtLeast(2, 39) {
		t.Skip("this git cannot merge without a worktree")
	}
	w := &world{Git: g, root: g.Init(), cache: filepath.Join(g.Home, "cache"), log: filepath.Join(g.Home, "log")}
	w.write(t, w.root, "a.txt", "1\n2\n3\n")
	w.write(t, w.root, "b.txt", "1\n2\n3\n")
	g.Run(w.root, "add", ".")
	g.Commit(w.root, "start")
	return w
}

func (w *world) write(t *testing.T, root, name, text string) {
	t.Helper()
	gittest.Write(t, filepath.Join(root, name), text)
}

// worktree makes a worktree of a new branch.
func (w *world) worktree(branch string) string {
	path := filepath.Join(w.Home, strings.ReplaceAll(branch, "/", "-"))
	w.Run(w.root, "worktree", "add", "-q", "-b", branch, path, "main")
	return path
}

// commit commits a file in a worktree.
func (w *world) commit(t *testing.T, root, name, text string) {
	t.Helper()
	w.write(t, root, name, text)
	w.Run(root, "add", "-A")
	w.Commit(root, "change "+name)
}

// radar returns a radar that knows nothing but what is in the cache.
func (w *world) radar() *conflicts.Radar {
	o := git.Options{Env: w.Env}
	s := session.New(session.Options{Dir: w.root, Git: o})
	return conflicts.New(conflicts.Options{Branches: stack.New(s, nil), CacheDir: w.cache, Git: o, Now: now})
}

func report(t *testing.T, r *conflicts.Radar, q conflicts.Request) conflicts.Report {
	t.Helper()
	found, err := r.Report(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// lines returns conflicts as lines.
func lines(r conflicts.Report) []string {
	out := []string{}
	for _, c := range r.Conflicts {
		line := strings.Join(c.Branches, " x ") + ": " + strings.Join(c.Files, ", ")
		for _, h := range c.Holders {
			line += fmt.Sprintf(" [%s %s %d]", h.Branch, filepath.Base(h.Worktree), h.Uncommitted)
		}
		out = append(out, line)
	}
	return out
}

// TestReport has conflicts between commits, between uncommitted changes, and with the
// trunk, and much that is none.
func TestReport(t *testing.T) {
	t.Parallel()
	w := begin(t)
	one, two := w.worktree("feat/one"), w.worktree("feat/two")
	w.commit(t, one, "a.txt", "1\none\n3\n")
	w.write(t, two, "a.txt", "1\ntwo\n3\n") // not committed
	w.write(t, two, "new.txt", "two\n")     // not tracked
	w.write(t, one, "new.txt", "one\n")
	// A branch that no worktree has, and one that is too old.
	w.Run(w.root, "checkout", "-q", "-b", "loose")
	w.commit(t, w.root, "b.txt", "1\nloose\n3\n")
	w.Run(w.root, "checkout", "-q", "-b", "old", "main")
	w.write(t, w.root, "b.txt", "1\nold\n3\n")
	w.Env = w.Env.With("GIT_COMMITTER_DATE=2025-01-02T03:04:05Z")
	w.Run(w.root, "commit", "-q", "-a", "-m", "old")
	w.Env = w.Env.With("GIT_COMMITTER_DATE=2026-01-02T03:04:05Z")
	// Work items have a branch without a common history.
	w.Run(w.root, "checkout", "-q", "--orphan", "copse-items")
	w.Commit(w.root, "items")
	w.Run(w.root, "checkout", "-q", "-f", "main")
	w.Run(w.root, "branch", "merged")
	w.commit(t, w.root, "b.txt", "1\nmain\n3\n")

	found := report(t, w.radar(), conflicts.Request{})
	want := []string{
		"loose x main: b.txt [main repo 0]",
		"feat/one x feat/two: a.txt, new.txt [feat/one feat-one 1] [feat/two feat-two 2]",
	}
	if diff := cmp.Diff(want, lines(found)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if len(found.Notes) > 0 || found.Trunk != "main" || found.Compared != 4 {
		t.Errorf("%+v", found)
	}
	if diff := cmp.Diff(map[string]string{"new.txt": "added in both"}, found.Conflicts[1].Kinds); diff != "" {
		t.Error(diff)
	}
	found = report(t, w.radar(), conflicts.Request{Branches: []string{"old"}})
	if diff := cmp.Diff([]string{"old x main: b.txt [main repo 0]", "loose x old: b.txt"}, lines(found)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if _, err := w.radar().Report(t.Context(), conflicts.Request{Branches: []string{"nothing"}}); err == nil || !strings.Contains(err.Error(), "not found") {
		t.Errorf("a branch that is not there: %v", err)
	}
}

// The next call sees edits made in between, in the same process and in another.
func TestEdits(t *testing.T) {
	t.Parallel()
	w := begin(t)
	one, two := w.worktree("one"), w.worktree("two")
	w.write(t, one, "a.txt", "1\none\n3\n")
	same := w.radar()
	for i, step := range []struct {
		do   func()
		want int
	}{
		{func() {}, 0},
		{func() { w.write(t, two, "a.txt", "1\ntwo\n3\n") }, 1},
		{func() { w.write(t, two, "a.txt", "1\none\n3\n") }, 0},
		{func() { w.write(t, two, "deep/er/new.txt", "two\n") }, 0},
		{func() { w.write(t, one, "deep/er/new.txt", "one\n") }, 1},
		{func() { w.write(t, one, "deep/er/new.txt", "two\n") }, 0},
		{func() { w.Run(one, "commit", "-q", "-a", "-m", "a"); w.write(t, two, "a.txt", "1\n2\n4\n") }, 1},
		{func() { w.Run(two, "checkout", "-q", "--", "a.txt") }, 0},
	} {
		step.do()
		for name, r := range map[string]*conflicts.Radar{"the same process": same, "another": w.radar()} {
			if found := report(t, r, conflicts.Request{}); len(found.Conflicts) != step.want {
				t.Errorf("step %d, %s: %q", i, name, lines(found))
			}
		}
	}
}

// tree returns what there is below directories: names, contents and times. Git renews the
// time of an object that it would have written.
func tree(t *testing.T, dirs ...string) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := d.Info()
			if err != nil {
				return err
			}
			text := fmt.Sprint(info.Mode())
			if !strings.Contains(path, filepath.Join(".git", "objects")) || d.IsDir() {
				text += fmt.Sprint(" ", info.ModTime().UnixNano())
			}
			if info.Mode().IsRegular() {
				data, err := os.ReadFile(path)
				if err != nil {
					return err
				}
				text += fmt.Sprintf(" %x", sha256.Sum256(data))
			}
			found[path] = text
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return found
}

// TestNothingIsWrittenAndNothingRuns looks for conflicts in a repository whose attributes
// and configuration name programs for everything that a merge does.
func TestNothingIsWrittenAndNothingRuns(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the programs are shell scripts")
	}
	w := begin(t)
	w.commit(t, w.root, ".gitattributes", "*.txt merge=evil filter=evil diff=evil\n")
	w.commit(t, w.root, "n.dat", "1\n2\n3\n") // no attribute is about it
	one, two := w.worktree("one"), w.worktree("two")
	canary := filepath.Join(w.Home, "canary")
	evil := filepath.Join(w.Home, "evil.sh")
	gittest.Write(t, evil, "#!/bin/sh\necho ran $0 $* >>'"+canary+"'\ncat\n")
	if err := os.Chmod(evil, 0o700); err != nil {
		t.Fatal(err)
	}
	w.commit(t, one, "a.txt", "1\none\n3\n")
	w.commit(t, two, "a.txt", "1\ntwo\n3\n")
	w.commit(t, one, "n.dat", "1\none\n3\n")
	w.commit(t, two, "n.dat", "1\ntwo\n3\n")
	w.write(t, two, "b.txt", "1\ntwo\n3\n")
	gittest.Write(t, filepath.Join(w.root, ".git", "info", "attributes"), "*.txt merge=evil filter=evil\n")
	for _, key := range []string{
		"merge.evil.driver", "merge.default", "filter.evil.clean", "filter.evil.smudge", "filter.evil.process", "diff.evil.textconv",
		"diff.evil.command", "core.fsmonitor", "core.hooksPath", "core.alternateRefsCommand", "merge.tool", "gpg.program", "core.attributesFile",
	} {
		w.Run(w.root, "config", key, evil)
	}
	// The user's own drivers stay out, too: the author of the attributes chose the driver.
	gittest.Write(t, filepath.Join(w.Home, ".gitconfig"), "[merge]\n\tdefault = evil\n[merge \"evil\"]\n\tdriver = "+evil+" %A\n")
	before := tree(t, w.root, one, two)
	found := report(t, w.radar(), conflicts.Request{})
	if diff := cmp.Diff([]string{"one x two: a.txt, n.dat [one one 0] [two two 1]"}, lines(found)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if text, err := os.ReadFile(canary); err == nil {
		t.Errorf("something ran: %s", text)
	}
	if diff := cmp.Diff(before, tree(t, w.root, one, two)); diff != "" {
		t.Errorf("the repository changed (-before +after)\n%s", diff)
	}
}

// spy puts a program before git that notes how git is started.
func (w *world) spy(t *testing.T) (started func() []string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the spy is a shell script")
	}
	path, err := w.Env.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(w.Home, "bin")
	gittest.Write(t, filepath.Join(bin, "git"), "#!/bin/sh\necho \"$*\" >>'"+w.log+"'\nexec '"+path+"' \"$@\"\n")
	if err := os.Chmod(filepath.Join(bin, "git"), 0o700); err != nil {
		t.Fatal(err)
	}
	w.Env = w.Env.With("PATH=" + bin + string(filepath.ListSeparator) + w.Env.Get("PATH"))
	return func() []string {
		text, _ := os.ReadFile(w.log)
		_ = os.Remove(w.log)
		var commands []string
		for line := range strings.Lines(string(text)) {
			for _, name := range []string{"status", "merge-tree", "fast-import", "merge-base"} {
				if strings.Contains(line, " "+name+" ") || strings.HasSuffix(strings.TrimSpace(line), " "+name) {
					commands = append(commands, name)
				}
			}
		}
		return commands
	}
}

// A repeated call costs what changed: nothing is merged twice, also by another process, and
// a worktree whose files did not change is not looked through by git.
func TestRepeatedCalls(t *testing.T) {
	t.Parallel()
	w := begin(t)
	one, two, three := w.worktree("one"), w.worktree("two"), w.worktree("three")
	for i, root := range []string{one, two, three} {
		w.commit(t, root, "a.txt", fmt.Sprintf("1\n%d\n3\n", i+5))
	}
	w.write(t, one, "b.txt", "1\none\n3\n")
	started := w.spy(t)
	time.Sleep(3200 * time.Millisecond) // a change is told from a later one only after a while
	first := lines(report(t, w.radar(), conflicts.Request{}))
	if got := strings.Join(started(), " "); strings.Count(got, "merge-tree") > 2 || !strings.Contains(got, "status") {
		t.Errorf("the first call starts %s", got)
	}
	for range 2 {
		if diff := cmp.Diff(first, lines(report(t, w.radar(), conflicts.Request{}))); diff != "" {
			t.Errorf("a repeated call says (-first +now)\n%s", diff)
		}
		if got := started(); len(got) > 0 {
			t.Errorf("a repeated call starts %q", got)
		}
	}
	w.write(t, three, "b.txt", "1\nthree\n3\n")
	now := lines(report(t, w.radar(), conflicts.Request{}))
	if !strings.Contains(strings.Join(now, "\n"), "one x three: a.txt, b.txt") {
		t.Errorf("got %q", now)
	}
	if got := strings.Join(started(), " "); strings.Count(got, "status") != 1 {
		t.Errorf("after a change in one worktree it starts %s", got)
	}
}

// A git that cannot try merges is a clear answer.
func TestOldGit(t *testing.T) {
	t.Parallel()
	w := begin(t)
	w.commit(t, w.worktree("one"), "a.txt", "1\none\n3\n")
	w.spy(t)
	script := filepath.Join(w.Home, "bin", "git")
	text, err := os.ReadFile(script)
	if err != nil {
		t.Fatal(err)
	}
	gittest.Write(t, script, strings.Replace(string(text), "exec", "case \"$*\" in *merge-tree*) exit 129;; esac\nexec", 1))
	if _, err := w.radar().Report(t.Context(), conflicts.Request{}); err == nil || !strings.Contains(err.Error(), "git 2.39 or later") {
		t.Errorf("got %v", err)
	}
}

// A git that does not end does not hold up a report for longer than its limit. The report says what it lacks.
func TestSlowGit(t *testing.T) {
	t.Parallel()
	w := begin(t)
	w.commit(t, w.worktree("one"), "a.txt", "1\none\n3\n")
	w.commit(t, w.root, "b.txt", "1\nmain\n3\n")
	w.spy(t)
	script := filepath.Join(w.Home, "bin", "git")
	text, err := os.ReadFile(script)
	if err != nil {
		t.Fatal(err)
	}
	gittest.Write(t, script, strings.Replace(string(text), "exec", "case \"$*\" in *merge-tree*) sleep 300;; esac\nexec", 1))
	s := session.New(session.Options{Dir: w.root, Git: git.Options{Env: w.Env}})
	r := conflicts.New(conflicts.Options{Branches: stack.New(s, nil), CacheDir: w.cache, Git: git.Options{Env: w.Env}, Now: now, Limit: 2 * time.Second})
	began := time.Now()
	found, err := r.Report(t.Context(), conflicts.Request{})
	if err != nil || found.NotCompared != 1 || !strings.Contains(strings.Join(found.Notes, "\n"), "took longer than 2s to compare") {
		t.Errorf("%+v, %v", found, err)
	}
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("it took %s", took)
	}
}

// A damaged cache counts as a missing one.
func TestDamagedCache(t *testing.T) {
	t.Parallel()
	w := begin(t)
	w.commit(t, w.worktree("one"), "a.txt", "1\none\n3\n")
	w.commit(t, w.worktree("two"), "a.txt", "1\ntwo\n3\n")
	want := lines(report(t, w.radar(), conflicts.Request{}))
	files, err := filepath.Glob(filepath.Join(w.cache, "*.json"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%q, %v", files, err)
	}
	for _, text := range []string{"", "{", `{"version":1}`, `{"version":1,"worktrees":{"` + w.root + `":null},"merges":{}}`, `{"version":99,"merges":{"x":{}}}`, "[]"} {
		gittest.Write(t, files[0], text)
		if diff := cmp.Diff(want, lines(report(t, w.radar(), conflicts.Request{}))); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", text, diff)
		}
	}
}

// The counterpart of the trunk at origin counts, if it is ahead.
func TestTrunkAtOrigin(t *testing.T) {
	t.Parallel()
	w := begin(t)
	one := w.worktree("one")
	w.commit(t, one, "a.txt", "1\none\n3\n")
	w.commit(t, w.root, "a.txt", "1\nmain\n3\n")
	w.Run(w.root, "update-ref", "refs/remotes/origin/main", "HEAD")
	w.Run(w.root, "reset", "-q", "--hard", "HEAD^")
	found := report(t, w.radar(), conflicts.Request{})
	if diff := cmp.Diff([]string{"one x origin/main: a.txt [one one 0]"}, lines(found)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// A worktree in the middle of a merge is compared by its commit.
func TestUnresolved(t *testing.T) {
	t.Parallel()
	w := begin(t)
	one := w.worktree("one")
	w.commit(t, one, "a.txt", "1\none\n3\n")
	w.commit(t, w.root, "a.txt", "1\nmain\n3\n")
	_, _ = w.Try(one, "merge", "main")
	found := report(t, w.radar(), conflicts.Request{})
	if len(found.Conflicts) != 1 || len(found.Notes) != 1 || !strings.Contains(found.Notes[0], "unresolved conflicts") {
		t.Errorf("%+v", found)
	}
}

// Line ends that git would convert do not count as a difference, and no filter runs to find out.
func TestLineEnds(t *testing.T) {
	t.Parallel()
	w := begin(t)
	canary := filepath.Join(w.Home, "canary")
	w.Run(w.root, "config", "filter.evil.clean", "touch "+canary)
	w.commit(t, w.root, ".gitattributes", "*.txt text eol=crlf filter=evil\n*.raw -text\n")
	for _, name := range []string{"a.txt", "c.raw"} {
		w.write(t, w.root, name, "1\n2\n3\n4\n5\n6\n7\n")
	}
	w.Run(w.root, "-c", "filter.evil.clean=cat", "add", "-A")
	w.Run(w.root, "commit", "-q", "-m", "more")
	one, two := w.worktree("one"), w.worktree("two")
	for _, name := range []string{"a.txt", "c.raw"} {
		w.write(t, one, name, "begin\r\n2\r\n3\r\n4\r\n5\r\n6\r\n7\r\n")
		w.write(t, two, name, "1\n2\n3\n4\n5\n6\nend\n")
	}
	_ = os.Remove(canary) // git ran it if a file is as new as the index
	var got []string
	for _, c := range report(t, w.radar(), conflicts.Request{}).Conflicts {
		got = append(got, strings.Join(c.Branches, " ")+": "+strings.Join(c.Files, " "))
	}
	if diff := cmp.Diff([]string{"one two: c.raw"}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if _, err := os.Lstat(canary); err == nil {
		t.Error("a filter ran")
	}
}

// However many worktrees git's directory names, git is started in a limited number of them: in
// that of the session, in those of named branches, and in the most recently used ones.
func TestManyWorktrees(t *testing.T) {
	t.Parallel()
	w := begin(t)
	const many = 60
	names := make([]string, many)
	for i := range names {
		names[i] = fmt.Sprintf("w%02d", i)
		w.Run(w.root, "branch", names[i])
		gitDir, root := filepath.Join(w.root, ".git", "worktrees", names[i]), filepath.Join(w.Home, names[i])
		w.write(t, gitDir, "gitdir", filepath.Join(root, ".git")+"\n")
		w.write(t, gitDir, "commondir", "../..\n")
		w.write(t, gitDir, "HEAD", "ref: refs/heads/"+names[i]+"\n")
		w.write(t, root, ".git", "gitdir: "+gitDir+"\n")
		at := now().Add(-time.Duration(i) * time.Hour) // the last one is the oldest
		if err := os.Chtimes(filepath.Join(gitDir, "HEAD"), at, at); err != nil {
			t.Fatal(err)
		}
	}
	started := w.spy(t)
	_, held, err := w.radar().Worktrees(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if n := len(started()); n == 0 || n > 50 {
		t.Errorf("for a list of the worktrees git examined %d", n)
	}
	left := map[string]bool{}
	for _, h := range held {
		left[filepath.Base(h.Root)] = h.Unexamined
	}
	if len(held) != many+1 || left[filepath.Base(w.root)] || left["w48"] || !left["w49"] || !left["w59"] {
		t.Errorf("%d worktrees, not examined: %v", len(held), left)
	}
	w.write(t, filepath.Join(w.Home, "w59"), "a.txt", "1\nold\n3\n")
	w.write(t, filepath.Join(w.Home, "w00"), "a.txt", "1\nnew\n3\n")
	found := report(t, w.radar(), conflicts.Request{Branches: []string{"w59"}})
	if got := strings.Join(lines(found), "\n"); !strings.Contains(got, "w00 x w59: a.txt") {
		t.Errorf("a named branch: %s", got)
	}
	if notes := strings.Join(found.Notes, "\n"); !strings.Contains(notes, "does not compare the files of 11 less recently used worktrees") {
		t.Errorf("notes: %s", notes)
	}
}
