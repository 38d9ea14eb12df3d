package history_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/git/gittest"
	"github.com/copse-dev/copse/internal/git/history"
)

// A branch counts as contained only if nothing that was made on it can be lost. Each case starts on
// a branch p of main, with two commits.
func TestContained(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		// steps are git commands; "file NAME TEXT" commits a file.
		steps string
		want  history.Ground
	}{
		"in progress":             {"", history.NotContained},
		"the trunk went on":       {"switch -q main|file other x", history.NotContained},
		"merged":                  {"switch -q main|merge -q --no-ff -m merged p", history.AllCommits},
		"fast-forward":            {"switch -q main|merge -q p", history.AllCommits},
		"squashed":                {"switch -q main|merge -q --squash p|commit -q -m squashed", history.OneCommit},
		"squashed later":          {"switch -q main|file other x|merge -q --squash p|commit -q -m squashed|file one changed", history.OneCommit},
		"squashed with a file":    {"switch -q main|merge -q --squash p|file other x", history.OneCommit},
		"rebased":                 {"switch -q main|file other x|cherry-pick p~1 p|file two changed", history.EachCommit},
		"one of two":              {"switch -q main|file other x|cherry-pick p~1|file two different", history.NotContained},
		"squashed and more":       {"switch -q main|merge -q --squash p|commit -q -m squashed|switch -q p|file three 3", history.NotContained},
		"in other commits":        {"switch -q main|file two half|file one 1|file two 2", history.SameFiles},
		"other white space":       {"switch -q main|file one 1|file two &2", history.NotContained},
		"other end of file":       {"switch -q main|file one 1|file two 2~", history.NotContained},
		"binary":                  {"file bin \x00a|switch -q main|merge -q --squash p|commit -q -m squashed|file bin \x00b", history.OneCommit},
		"other binary":            {"file bin \x00a|switch -q main|file one 1|file two 2|file bin \x00b", history.NotContained},
		"undone on the branch":    {"rm -q one two|commit -q -m undone|switch -q main|file one 1|file two 2", history.NotContained},
		"nothing but messages":    {"reset -q --hard main|commit -q --allow-empty -m note|switch -q main|file one 1", history.NotContained},
		"squashed and merged on":  {"switch -q main|file other x|switch -q p|merge -q -m update main|switch -q main|merge -q --squash p|commit -q -m squashed|file one new", history.OneCommit},
		"a merge with a change":   {"switch -q main|file other x|switch -q p|merge -q --no-commit main|file two extra|switch -q main|cherry-pick p~2 p~1|file two 3", history.NotContained},
		"another mode":            {"update-index --chmod=+x one|commit -q -m mode|checkout -q -f .|switch -q -f main|file one 1|file two 2", history.NotContained},
		"another relative config": {"config diff.relative true|config diff.noprefix true|config diff.context 0|switch -q main|file other x|merge -q --squash p|commit -q -m squashed|file one 3", history.OneCommit},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := gittest.New(t)
			dir := g.Init()
			file := func(name, text string) {
				text = strings.TrimSuffix(strings.ReplaceAll(text, "&", "\t")+"\n", "~\n")
				gittest.Write(t, filepath.Join(dir, name), text)
				g.Run(dir, "add", name)
				g.Run(dir, "commit", "-q", "-m", "change "+name)
			}
			file("f", "f")
			file("two", "0")
			g.Run(dir, "switch", "-q", "-c", "p")
			file("one", "1")
			file("two", "2")
			for step := range strings.SplitSeq(tt.steps, "|") {
				args := strings.Fields(step)
				switch {
				case len(args) == 0:
				case args[0] == "file":
					file(args[1], args[2])
				default:
					g.Run(dir, args...)
				}
			}
			repo, err := git.Discover(t.Context(), dir, git.Options{Env: g.Env})
			if err != nil {
				t.Fatal(err)
			}
			of := func(name string) string { return strings.TrimSpace(g.Run(dir, "rev-parse", name)) }
			got, err := history.Contained(t.Context(), repo.Program(), of("p"), of("main"))
			if got != tt.want || err != nil {
				t.Errorf("got %q, %v; want %q", got, err, tt.want)
			}
		})
	}
}
