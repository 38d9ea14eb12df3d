package conflicts_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/copse-dev/copse/internal/workflow/conflicts"
)

// branch makes a branch on another one, in the main worktree, that changes files.
func (w *world) branch(t *testing.T, name, on string, files ...string) {
	t.Helper()
	w.Run(w.root, "checkout", "-q", "-b", name, on)
	w.change(t, files...)
}

// change commits files, each given as "name=text", to the branch of the main worktree.
func (w *world) change(t *testing.T, files ...string) {
	t.Helper()
	for _, f := range files {
		name, text, _ := strings.Cut(f, "=")
		w.commit(t, w.root, name, text+"\n")
	}
}

// told returns conflicts as lines, with the branches that inherit them.
func told(r conflicts.Report) []string {
	out := []string{}
	for _, c := range r.Conflicts {
		var names []string
		for _, name := range c.Branches {
			if above := c.Above[name]; len(above) > 0 {
				name += " (" + strings.Join(above, " ") + ")"
			}
			names = append(names, name)
		}
		out = append(out, strings.Join(names, " x ")+": "+strings.Join(c.Files, " "))
	}
	return out
}

// A conflict is reported once, with the sides that cause it.
func TestInherited(t *testing.T) {
	t.Parallel()
	w := begin(t)
	w.branch(t, "x", "main", "a.txt=x")
	w.branch(t, "y0", "main", "y0=")
	w.Run(w.root, "checkout", "-q", "main")
	w.change(t, "a.txt=main")
	w.branch(t, "y1", "main", "y1=") // contains the trunk's change
	w.branch(t, "y2", "main", "y2=")
	w.Run(w.root, "checkout", "-q", "main")
	w.change(t, "a.txt=main, again")
	w.branch(t, "y3", "main", "y3=")
	w.branch(t, "y4", "main", "a.txt=y4") // has its own change
	// A stack, and another branch that conflicts with the lowest of it.
	w.branch(t, "s1", "main", "b.txt=s1", "s=1")
	w.branch(t, "s2", "s1", "s2=")
	w.branch(t, "s3", "s2", "s=3")
	w.branch(t, "z", "main", "b.txt=z", "s=z")
	w.branch(t, "z2", "z", "z2=")
	w.Run(w.root, "checkout", "-q", "main")
	for _, c := range []struct {
		of   []string
		want []string
	}{
		{nil, []string{"x x main: a.txt", "s1 (s2 s3) x z (z2): b.txt s", "s3 x z (z2): s", "x x y4: a.txt"}},
		{[]string{"y1"}, []string{}},
		{[]string{"s3"}, []string{"s3 x z (z2): b.txt s"}},
		{[]string{"z2"}, []string{"s1 (s2 s3) x z2: b.txt s", "s3 x z2: s"}},
		{[]string{"x"}, []string{"x x main: a.txt", "x x y4: a.txt"}},
	} {
		for range 2 { // the stored results say the same
			found := report(t, w.radar(), conflicts.Request{Branches: c.of})
			if diff := cmp.Diff(c.want, told(found)); diff != "" || len(found.Notes) > 0 {
				t.Errorf("%q: %q (-want +got)\n%s", c.of, found.Notes, diff)
			}
		}
	}
}

// A file that one side moved has the other side's name in neither of them.
func TestInheritedMoves(t *testing.T) {
	t.Parallel()
	w := begin(t)
	text := strings.Repeat("a line\n", 20)
	w.change(t, "old=1\n"+text)
	w.branch(t, "x", "main")
	w.Run(w.root, "mv", "old", "new")
	w.change(t, "new=x\n"+text)
	w.branch(t, "y", "main", "old=y\n"+text) // changes the file that x moves
	w.Run(w.root, "checkout", "-q", "main")
	w.change(t, "old=main\n"+text)
	w.branch(t, "z", "main", "z=")
	w.Run(w.root, "checkout", "-q", "main")
	want := []string{"x x main: new", "y x main: old", "x x y: new"}
	if diff := cmp.Diff(want, told(report(t, w.radar(), conflicts.Request{}))); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestEveryConflictIsVisible compares reports of random histories with git's own merges: each conflict in a file
// that both sides changed since they left the trunk is listed, for the two sides or for two that
// they contain, and no other one is.
func TestEveryConflictIsVisible(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			w := begin(t)
			random := rand.New(rand.NewPCG(seed, 1))
			some := func() string { return fmt.Sprintf("%c=%d", 'f'+random.IntN(3), random.IntN(4)) }
			names := []string{"main"}
			for i := range 7 {
				name := fmt.Sprintf("b%d", 6-i) // the order of the names is not that of the stacks
				w.branch(t, name, names[random.IntN(len(names))], some(), some(), fmt.Sprintf("own%d=", i))
				names = append(names, name)
				if random.IntN(2) == 0 {
					w.Run(w.root, "checkout", "-q", "main")
					w.change(t, some(), fmt.Sprintf("trunk%d=", i))
				}
			}
			w.Run(w.root, "checkout", "-q", "main")
			w.check(t, names)
		})
	}
}

// check compares a report with git.
func (w *world) check(t *testing.T, names []string) {
	t.Helper()
	content := func(commit, file string) string {
		text, _ := w.Try(w.root, "rev-parse", "-q", "--verify", commit+":"+file)
		return text
	}
	base := map[string]string{}
	for _, name := range names {
		base[name] = w.Run(w.root, "merge-base", name, "main")
	}
	contains := func(high, low string) bool {
		return w.Run(w.root, "merge-base", high, low) == w.Run(w.root, "rev-parse", low)
	}
	listed := map[string]bool{} // by both sides and the file
	found := report(t, w.radar(), conflicts.Request{})
	for _, c := range found.Conflicts {
		for _, file := range c.Files {
			for i, name := range c.Branches {
				if other := c.Branches[1-i]; other != "main" && name != "main" && content(name, file) == content(base[name], file) {
					t.Errorf("%s did not change %s: %q", name, file, told(found))
				}
			}
			for _, a := range append([]string{c.Branches[0]}, c.Above[c.Branches[0]]...) {
				if a != c.Branches[0] && !contains(a, c.Branches[0]) {
					t.Errorf("%s is not above %s", a, c.Branches[0])
				}
				for _, b := range append([]string{c.Branches[1]}, c.Above[c.Branches[1]]...) {
					if content(a, file) == content(c.Branches[0], file) && content(b, file) == content(c.Branches[1], file) {
						listed[a+" "+b+" "+file], listed[b+" "+a+" "+file] = true, true
					}
				}
			}
		}
	}
	n := 0
	for i, a := range names {
		for _, b := range names[i+1:] {
			out, _ := w.Try(w.root, "merge-tree", "--write-tree", "--name-only", "--no-messages", a, b)
			for _, file := range strings.Fields(out)[1:] {
				trunk := a == "main" || b == "main"
				if !trunk && (content(a, file) == content(base[a], file) || content(b, file) == content(base[b], file)) {
					continue
				}
				if n++; !listed[a+" "+b+" "+file] {
					t.Errorf("%s conflicts with %s in %s: %q", a, b, file, told(found))
				}
			}
		}
	}
	if n == 0 {
		t.Error("nothing conflicts")
	}
	if once := told(found); len(slices.Compact(slices.Sorted(slices.Values(once)))) != len(once) {
		t.Errorf("twice: %q", once)
	}
}
