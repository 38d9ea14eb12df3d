package objects_test

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/copse-dev/copse/internal/git/gittest"
	"github.com/copse-dev/copse/internal/git/objects"
	"github.com/copse-dev/copse/internal/xec"
)

// An answer belongs to its name, whatever the other names and the contents are.
func TestRead(t *testing.T) {
	t.Parallel()
	g := gittest.New(t)
	root := g.Init()
	content := strings.Repeat("0", 40) + " blob 7\nmissing\n"
	gittest.Write(t, filepath.Join(root, "a b", "file"), content)
	gittest.Write(t, filepath.Join(root, "empty"), "")
	g.Run(root, "add", "-A")
	commit := g.Commit(root, "files")
	g.Run(root, "branch", "missing")
	names := []string{"HEAD", "", "HEAD:a b/file", "x\nHEAD", ":empty", "HEAD:a b/none", "HEAD:empty", "HEAD^{tree}", strings.Repeat("0", 40)}
	const absent, none = "-", "!"
	want := []string{"commit", absent, content, absent, absent, absent, none, "tree", absent}
	feed := feedOf(g, root)
	read, err := objects.Read(t.Context(), feed, names...)
	if err != nil {
		t.Fatal(err)
	}
	described, err := objects.Describe(t.Context(), feed, names...)
	if err != nil {
		t.Fatal(err)
	}
	for i, o := range read {
		got := string(o.Data)
		switch o.Kind {
		case "":
			got = absent
		case "commit", "tree":
			got = o.Kind
		}
		if got == "" {
			got = none
		}
		if d := described[i]; got != want[i] || d.Kind != o.Kind || d.Hash != o.Hash || d.Size != o.Size || d.Data != nil {
			t.Errorf("%q: %q, want %q; described as %+v", names[i], got, want[i], d)
		}
	}
	if read[0].Hash != commit {
		t.Errorf("HEAD is %s, want %s", read[0].Hash, commit)
	}
	if none, err := objects.Read(t.Context(), nil); none != nil || err != nil {
		t.Errorf("of no names: %v, %v", none, err)
	}
}

// An output that does not answer each name is an error.
func TestOtherAnswers(t *testing.T) {
	t.Parallel()
	hash := strings.Repeat("a", 40)
	for _, out := range []string{"", hash + " blob 3\nab\n", hash + " blob 3\nabc", hash + " blob 3", "x missing\ny missing\n"} {
		feed := func(context.Context, []byte, ...string) ([]byte, error) { return []byte(out), nil }
		if _, err := objects.Read(t.Context(), feed, hash); err == nil {
			t.Errorf("%q is accepted", out)
		}
	}
}

func TestEntries(t *testing.T) {
	t.Parallel()
	hash := strings.Repeat("b", 64)
	list := "100644 blob " + hash + "\ta\tb\x00120000 blob " + hash + "\tlink\x00160000 commit " + hash + "\tmodule\x00"
	want := []objects.Entry{{hash, "a\tb", true}, {hash, "link", false}, {hash, "module", false}}
	if got := slices.Collect(objects.Entries([]byte(list))); !slices.Equal(got, want) {
		t.Errorf("got %+v", got)
	}
}

func feedOf(g *gittest.Git, root string) objects.Feed {
	return func(ctx context.Context, input []byte, args ...string) ([]byte, error) {
		res, err := xec.Run(ctx, xec.Command{Name: "git", Args: args, Dir: root, Env: g.Env, Stdin: input, MaxOutput: 1 << 20})
		return res.Stdout, err
	}
}
