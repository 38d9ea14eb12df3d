package trial_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/git/gittest"
	"github.com/copse-dev/copse/internal/git/porcelain"
	"github.com/copse-dev/copse/internal/git/trial"
)

// repository returns a repository with one commit of the files.
func repository(t *testing.T, files map[string]string, args ...string) (*gittest.Git, string) {
	t.Helper()
	g := gittest.New(t)
	if !g.AtLeast(2, 39) {
		t.Skip("this git cannot merge without a worktree")
	}
	root := g.Init(args...)
	for name, text := range files {
		gittest.Write(t, filepath.Join(root, name), text)
	}
	g.Run(root, "add", ".")
	g.Commit(root, "start")
	return g, root
}

func discover(t *testing.T, g *gittest.Git, root string) *git.Repo {
	t.Helper()
	repo, err := git.Discover(t.Context(), root, git.Options{Env: g.Env})
	if err != nil {
		t.Fatal(err)
	}
	return repo
}

func open(t *testing.T, g *gittest.Git, root, attributes string) *trial.Trial {
	t.Helper()
	tr, err := trial.New(discover(t, g, root), attributes)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := tr.Close(); err != nil {
			t.Error(err)
		}
	})
	return tr
}

// pairsOf returns how many random pairs are compared with real merges: 500 in CI.
func pairsOf() int {
	if os.Getenv("COPSE_TEST_NO_SKIP") != "" {
		return 500
	}
	return 60
}

// TestAgreesWithMerges merges random pairs of branches, and says of each what a real merge
// says: whether there are conflicts, and in which files.
func TestAgreesWithMerges(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(17, 4)) //nolint:gosec // the same branches each time
	files := map[string]string{"list.txt": "a\nb\nc\n", ".gitattributes": "list.txt merge=union\n*.bin merge=binary\n"}
	for i := range 12 {
		text := ""
		for line := range 12 {
			text += fmt.Sprintf("line %d of %d\n", line, i)
		}
		files[fmt.Sprintf("dir%d/file%d.txt", i%3, i)] = text
	}
	files["data.bin"] = "a\nb\nc\nd\ne\nf\n"
	g, root := repository(t, files)
	const branches = 36
	for b := range branches {
		// Some begin at others.
		start := "main"
		if b > 4 && random.IntN(3) == 0 {
			start = fmt.Sprintf("b%d", random.IntN(b))
		}
		g.Run(root, "checkout", "-q", "-b", fmt.Sprintf("b%d", b), start)
		for range 1 + random.IntN(2) {
			change(t, random, root)
			g.Run(root, "add", "-A")
			g.Run(root, "commit", "-q", "--allow-empty", "-m", "change")
		}
	}
	var pairs []trial.Pair
	for len(pairs) < pairsOf() {
		a, b := random.IntN(branches), random.IntN(branches)
		if a != b {
			pairs = append(pairs, trial.Pair{A: g.Run(root, "rev-parse", fmt.Sprintf("b%d", a)), B: g.Run(root, "rev-parse", fmt.Sprintf("b%d", b))})
		}
	}
	outcomes, err := open(t, g, root, trial.Attributes(map[string]string{".": files[".gitattributes"]})).Merge(t.Context(), pairs)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for i, p := range pairs {
		g.Run(root, "checkout", "-q", "-f", "--detach", p.A)
		_, err := g.Try(root, "merge", "-q", "--no-commit", "--no-ff", p.B)
		want := []string{}
		for line := range strings.Lines(g.Run(root, "ls-files", "-u")) {
			_, path, _ := strings.Cut(strings.TrimSpace(line), "\t")
			want = append(want, path)
		}
		slices.Sort(want)
		want = slices.Compact(want)
		g.Run(root, "reset", "-q", "--hard")
		g.Run(root, "clean", "-q", "-f", "-d")
		got := []string{}
		for _, f := range outcomes[i].Files {
			got = append(got, f.Path)
		}
		if (err != nil) != (len(got) > 0) || outcomes[i].Reason != "" {
			t.Errorf("pair %d: a real merge says %v, and here it is %+v", i, err, outcomes[i])
		}
		if diff := cmp.Diff(want, got, kinds); diff != "" {
			t.Errorf("pair %d (-real +tried):\n%s", i, diff)
		}
		if len(got) > 0 {
			found++
		}
	}
	if found == 0 || found == len(pairs) {
		t.Errorf("%d of %d pairs are in conflict, which proves nothing", found, len(pairs))
	}
}

// change changes a few files at random.
func change(t *testing.T, random *rand.Rand, root string) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(root, "dir*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	names = append(names, filepath.Join(root, "list.txt"), filepath.Join(root, "data.bin"))
	for range 1 + random.IntN(3) {
		name := names[random.IntN(len(names))]
		data, err := os.ReadFile(name)
		if err != nil {
			continue // it is gone since
		}
		lines := strings.Split(string(data), "\n")
		switch random.IntN(8) {
		case 0:
			err = os.Remove(name)
		case 1:
			err = os.Rename(name, filepath.Join(filepath.Dir(name), fmt.Sprintf("moved%d.txt", random.IntN(4))))
		case 2:
			gittest.Write(t, filepath.Join(root, fmt.Sprintf("dir%d/new%d.txt", random.IntN(3), random.IntN(5))), fmt.Sprintf("%d\n", random.IntN(3)))
		default:
			at := random.IntN(len(lines))
			lines[at] = fmt.Sprintf("changed to %d", random.IntN(1000))
			err = os.WriteFile(name, []byte(strings.Join(lines, "\n")), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// A snapshot has what the worktree has: what git itself would commit.
func TestSnapshots(t *testing.T) {
	t.Parallel()
	g, root := repository(t, map[string]string{
		"plain.txt": "old\n", "gone.txt": "x\n", "dir/file.txt": "x\n", "becomes": "file\n", "run.sh": "echo\n",
	})
	head := g.Run(root, "rev-parse", "HEAD")
	odd := "dir/odd \"name\"\\ \n end.txt"
	gittest.Write(t, filepath.Join(root, "plain.txt"), "new\n")
	gittest.Write(t, filepath.Join(root, odd), "odd\n")
	gittest.Write(t, filepath.Join(root, "staged.txt"), "staged\n")
	g.Run(root, "add", "staged.txt")
	for _, name := range []string{"gone.txt", "becomes"} {
		if err := os.Remove(filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
	}
	gittest.Write(t, filepath.Join(root, "becomes", "directory.txt"), "y\n")
	if err := os.Chmod(filepath.Join(root, "run.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../../outside", filepath.Join(root, "link")); err != nil {
		t.Fatal(err)
	}
	edits, err := discover(t, g, root).Edits(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	tr := open(t, g, root, "")
	w := trial.Worktree{Root: root, Head: head, Edits: edits}
	commits, err := tr.Snapshots(t.Context(), []trial.Worktree{w, w})
	if err != nil {
		t.Fatal(err)
	}
	if commits[0] != commits[1] {
		t.Errorf("the same files give %v", commits)
	}
	if _, err := g.Try(root, "cat-file", "-e", commits[0]); err == nil {
		t.Error("the repository has the snapshot")
	}
	// A commit of all of it, by git itself, merges cleanly with the snapshot, and a commit
	// that changes one of the files does not.
	g.Run(root, "add", "-A")
	g.Commit(root, "all of it")
	same := g.Run(root, "rev-parse", "HEAD")
	for _, name := range []string{"plain.txt", odd, "staged.txt", "run.sh", "becomes/directory.txt"} {
		gittest.Write(t, filepath.Join(root, name), "another text\n")
	}
	g.Run(root, "reset", "-q", "--soft", head)
	g.Run(root, "add", "-A")
	g.Commit(root, "others")
	outcomes, err := tr.Merge(t.Context(), []trial.Pair{{A: commits[0], B: same}, {A: commits[0], B: g.Run(root, "rev-parse", "HEAD")}})
	if err != nil {
		t.Fatal(err)
	}
	want := []trial.Outcome{{}, {Files: []trial.File{
		{Path: "becomes/directory.txt", Kind: trial.Added}, {Path: odd, Kind: trial.Added},
		{Path: "plain.txt", Kind: trial.Modified}, {Path: "staged.txt", Kind: trial.Added},
	}}}
	if diff := cmp.Diff(want, outcomes, kinds); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	for _, f := range outcomes[1].Files {
		if theirs := "100644 " + g.Run(root, "hash-object", "plain.txt"); f.B != theirs || f.A == "" || f.A == f.B {
			t.Errorf("the versions of %q: %q, %q", f.Path, f.A, f.B)
		}
	}
}

// kinds compares files without the names of their versions.
var kinds = cmpopts.IgnoreFields(trial.File{}, "A", "B")

// Lines that end with CR LF are compared as git would commit them.
func TestCRLF(t *testing.T) {
	t.Parallel()
	g, root := repository(t, map[string]string{"a.txt": "1\n2\n3\n4\n5\n6\n7\n8\n"})
	head := g.Run(root, "rev-parse", "HEAD")
	gittest.Write(t, filepath.Join(root, "a.txt"), "1\n2\n3\n4\n5\n6\n7\nend\n")
	g.Run(root, "commit", "-q", "-a", "-m", "the end")
	end := g.Run(root, "rev-parse", "HEAD")
	g.Run(root, "reset", "-q", "--hard", head)
	g.Run(root, "config", "core.autocrlf", "true")
	gittest.Write(t, filepath.Join(root, "a.txt"), "begin\r\n2\r\n3\r\n4\r\n5\r\n6\r\n7\r\n8\r\n")
	edits, err := discover(t, g, root).Edits(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	tr := open(t, g, root, "")
	commits, err := tr.Snapshots(t.Context(), []trial.Worktree{{Root: root, Head: head, Edits: edits}})
	if err != nil {
		t.Fatal(err)
	}
	outcomes, err := tr.Merge(t.Context(), []trial.Pair{{A: commits[0], B: end}})
	if err != nil || len(outcomes[0].Files) > 0 {
		t.Errorf("%+v, %v", outcomes, err)
	}
}

// A pair that cannot be tried does not keep the others from being tried.
func TestUnrelated(t *testing.T) {
	t.Parallel()
	g, root := repository(t, map[string]string{"a.txt": "1\n"})
	main := g.Run(root, "rev-parse", "HEAD")
	g.Run(root, "checkout", "-q", "-b", "other")
	gittest.Write(t, filepath.Join(root, "a.txt"), "2\n")
	g.Run(root, "commit", "-q", "-a", "-m", "2")
	other := g.Run(root, "rev-parse", "HEAD")
	g.Run(root, "checkout", "-q", "--orphan", "pages")
	g.Commit(root, "pages")
	pages := g.Run(root, "rev-parse", "HEAD")
	outcomes, err := open(t, g, root, "").Merge(t.Context(), []trial.Pair{{A: main, B: other}, {A: main, B: pages}, {A: strings.Repeat("1", 40), B: main}, {A: other, B: main}})
	if err != nil || len(outcomes) != 4 {
		t.Fatalf("%+v, %v", outcomes, err)
	}
	for i, want := range []string{"", "unrelated histories", "not something we can merge", ""} {
		if !strings.Contains(outcomes[i].Reason, want) || want == "" && outcomes[i].Reason != "" {
			t.Errorf("pair %d: %+v", i, outcomes[i])
		}
	}
}

// The advice that git prints about a submodule in conflict hides neither its own merge nor the
// others.
func TestSubmodule(t *testing.T) {
	t.Parallel()
	g, root := repository(t, map[string]string{"a.txt": "1\n"})
	commits := map[string]string{}
	for i, name := range []string{"base", "left", "right", "apart"} {
		g.Run(root, "checkout", "-q", "-B", name)
		if name != "base" {
			g.Run(root, "reset", "-q", "--hard", "base")
		}
		if name == "apart" {
			gittest.Write(t, filepath.Join(root, "a.txt"), "2\n")
			g.Run(root, "add", "a.txt")
		} else {
			g.Run(root, "update-index", "--add", "--cacheinfo", "160000,"+strings.Repeat(fmt.Sprint(i+1), 40)+",module")
		}
		g.Run(root, "commit", "-q", "-m", name)
		commits[name] = g.Run(root, "rev-parse", "HEAD")
	}
	pairs := []trial.Pair{{A: commits["left"], B: commits["right"]}, {A: commits["left"], B: commits["apart"]}, {A: commits["right"], B: commits["left"]}}
	got, err := open(t, g, root, "").Merge(t.Context(), pairs)
	if err != nil {
		t.Fatal(err)
	}
	both := trial.Outcome{Files: []trial.File{{Path: "module", Kind: trial.Submodule}}}
	if diff := cmp.Diff([]trial.Outcome{both, {}, both}, got, kinds); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// Only git's own ways to merge are taken from attributes, whatever the names mean in
// configuration.
func TestAttributes(t *testing.T) {
	t.Parallel()
	got := trial.Attributes(map[string]string{
		".":        "* text=auto eol=crlf filter=x\n*.md merge=union\n*.lock -merge diff=y\n# merge=union\n[attr]evil merge=evil\n\"quoted\" merge=union\n*.x merge=evil\n",
		"sub/deep": "list merge=union\na/b binary\n", "sub": "*.txt merge=binary text\n", "odd [dir": "* merge=union\n",
	})
	want := "*.md merge=union\n*.lock -merge\n*.x merge\n/sub/**/*.txt merge=binary\n/sub/deep/**/list merge=union\n/sub/deep/a/b binary\n"
	if diff := cmp.Diff(want, got, kinds); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// Trials work in repositories with long names of objects.
func TestSHA256(t *testing.T) {
	t.Parallel()
	g, root := repository(t, map[string]string{"a.txt": "1\n"}, "--object-format=sha256")
	main := g.Run(root, "rev-parse", "HEAD")
	gittest.Write(t, filepath.Join(root, "a.txt"), "2\n")
	g.Run(root, "commit", "-q", "-a", "-m", "2")
	gittest.Write(t, filepath.Join(root, "a.txt"), "3\n")
	tr := open(t, g, root, "")
	commits, err := tr.Snapshots(t.Context(), []trial.Worktree{{Root: root, Head: main, Edits: git.Edits{Files: []porcelain.Edit{{Path: "a.txt", Mode: porcelain.ModeFile}}}}})
	if err != nil {
		t.Fatal(err)
	}
	outcomes, err := tr.Merge(t.Context(), []trial.Pair{{A: commits[0], B: g.Run(root, "rev-parse", "HEAD")}})
	if err != nil || len(outcomes[0].Files) != 1 {
		t.Errorf("%+v, %v", outcomes, err)
	}
}
