package adopt_test

import (
	"cmp"
	"context"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/copse-dev/copse/internal/branch/adopt"
	"github.com/copse-dev/copse/internal/branch/source"
	"github.com/copse-dev/copse/internal/branch/source/reflog"
	"github.com/copse-dev/copse/internal/branch/twig"
)

// What happens to stacks every day. Each scenario starts from main ← a ← b ← c, made with
// "git checkout -b" and a commit each.
func TestScenarios(t *testing.T) {
	t.Parallel()
	// The reflogs alone name the same parents, except where that takes the commits.
	logged := map[string]string{
		"parent deleted":                "a:main c:b",
		"first deleted":                 "b:a c:b",
		"first merged":                  "a:main b:a c:b",
		"first squashed":                "a:main b:a c:b",
		"first squashed and deleted":    "b:a c:b",
		"trunk moved, first squashed":   "a:main b:a c:b",
		"rebased onto a fetched branch": "a:main b:a c:d",
	}
	for name, tt := range map[string]struct {
		steps string // git commands; "commit" makes one on the branch checked out
		want  string // the parents, by branch
	}{
		"nothing":                    {"", "a:main b:a c:b"},
		"parent amended":             {"checkout -q b|commit --amend b2", "a:main b:a c:b"},
		"first amended":              {"checkout -q a|commit --amend a2", "a:main b:a c:b"},
		"trunk moved, first rebased": {"checkout -q main|commit more|rebase -q main a", "a:main b:a c:b"},
		"trunk moved, all rebased": {
			"checkout -q main|commit more|rebase -q main a|rebase -q a b|rebase -q b c", "a:main b:a c:b",
		},
		"parent amended, child rebased": {"checkout -q b|commit --amend b2|rebase -q --onto b b@{1} c", "a:main b:a c:b"},
		"parent went on":                {"checkout -q b|commit b2", "a:main b:a c:b"},
		"parent reset to the trunk":     {"checkout -q b|reset -q --hard main|commit b2", "a:main b:a c:b"},
		"moved to the trunk":            {"rebase -q --onto main b c", "a:main b:a c:main"},
		"second child":                  {"checkout -q -b d b|commit d", "a:main b:a c:b d:b"},
		"parent renamed":                {"branch -m b login", "a:main c:login login:a"},
		"parent deleted":                {"branch -D b", "a:main c:a"},
		"first deleted":                 {"branch -D a", "b:main c:b"},
		"first merged":                  {"checkout -q main|merge -q --no-ff -m merged a", "a:main b:main c:b"},
		"first squashed": {
			"checkout -q main|merge -q --squash a|save squashed|checkout -q c", "a:main b:main c:b",
		},
		"first squashed and deleted": {
			"checkout -q main|merge -q --squash a|save squashed|branch -D a", "b:main c:b",
		},
		"trunk moved, first squashed": {
			"checkout -q main|commit more|merge -q --squash a|save squashed", "a:main b:main c:b",
		},
		"another branch visited the parent": {
			"checkout -q -b d main|reset -q --hard b|reset -q --hard main|commit d|checkout -q b|commit --amend b2", "a:main b:a c:b d:main",
		},
		"an empty sibling follows": {
			"branch d b|checkout -q b|commit b2|rebase -q b c|rebase -q b d", "a:main b:a c:b d:b",
		},
		"an empty sibling goes first": {
			"branch d b|checkout -q b|commit b2|rebase -q b d|rebase -q b c", "a:main b:a c:b d:b",
		},
		"an empty sibling merges the parent": {
			"branch d b|checkout -q b|commit b2|rebase -q b c|checkout -q d|merge -q --ff-only b", "a:main b:a c:b d:b",
		},
		"an empty branch moves to another parent": {"branch d a|rebase -q c d", "a:main b:a c:b d:c"},
		"rebased onto a fetched branch": {
			"remote add origin .|checkout -q -b d a|commit d|update-ref refs/remotes/origin/d d|checkout -q c|branch -q -D d|" +
				"branch -q d origin/d|rebase -q --onto d b c", "a:main b:a c:d d:a",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			k := repoIn(t, dir, &twig.State{}, func(git func(...string)) {
				git("file", "first")
				for _, branch := range []string{"a", "b", "c"} {
					git("checkout", "-q", "-b", branch)
					git("file", branch)
				}
				for step := range strings.SplitSeq(tt.steps, "|") {
					if step == "" {
						continue
					}
					args := strings.Fields(step)
					if args[0] == "commit" {
						args = append([]string{"file"}, args[1:]...)
					}
					git(args...)
				}
			})
			var got []string
			for _, p := range adopt.Propose(k) {
				got = append(got, p.Branch+":"+p.Parent.Value)
			}
			if strings.Join(got, " ") != tt.want {
				t.Errorf("got %s, want %s", strings.Join(got, " "), tt.want)
			}
			delete(k.History.Tips, "main")
			record, err := reflog.Reader{}.Read(t.Context(), logs{dir: filepath.Join(dir, ".git"), branches: slices.Sorted(maps.Keys(k.History.Tips))})
			if err != nil {
				t.Fatal(err)
			}
			got = nil
			for _, e := range record.Edges {
				got = append(got, e.Child+":"+e.Parent)
			}
			if want := cmp.Or(logged[name], tt.want); strings.Join(got, " ") != want {
				t.Errorf("the reflogs say %s, want %s", strings.Join(got, " "), want)
			}
		})
	}
}

// logs is a repository of which only the reflogs matter.
type logs struct {
	source.Repo
	dir      string
	branches []string
}

func (r logs) CommonDir() string                             { return r.dir }
func (r logs) Unrecorded() []string                          { return r.branches }
func (r logs) DefaultBranch(context.Context) (string, error) { return "main", nil }
func (r logs) Remotes(context.Context) ([]string, error)     { return []string{"origin"}, nil }
