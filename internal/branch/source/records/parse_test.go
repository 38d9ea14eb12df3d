package records_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/copse-dev/copse/internal/branch/source"
	"github.com/copse-dev/copse/internal/branch/source/ghstack"
	"github.com/copse-dev/copse/internal/branch/source/gitspice"
	"github.com/copse-dev/copse/internal/branch/source/gittown"
	"github.com/copse-dev/copse/internal/branch/source/graphite"
	"github.com/copse-dev/copse/internal/branch/source/machete"
	"github.com/copse-dev/copse/internal/git/gitconfig"
)

var hash = strings.Repeat("ab", 20)

func TestMachete(t *testing.T) {
	t.Parallel()
	got, err := machete.Parse("main\n\tfeat/a PR #7 (other) some text slide-out=no\n\n\t\tfeat/B.c note\n# comment\n\tside PR #99999999999\nrel\r\n")
	if err != nil {
		t.Fatal(err)
	}
	want := source.Record{Trunks: []string{"main", "rel"}, Edges: []source.Edge{
		{Child: "feat/a", Parent: "main", PR: 7}, {Child: "feat/B.c", Parent: "feat/a"}, {Child: "side", Parent: "main"},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	for _, text := range []string{"  a\n", "main\n  a\n     b\n", "main\n    a\n  b\n", "main\n  a\n      b\n", "main\n  a..b\n", "\x1b[1m\n"} {
		if _, err := machete.Parse(text); err == nil {
			t.Errorf("%q is read", text)
		}
	}
}

func TestGHStack(t *testing.T) {
	t.Parallel()
	got, err := ghstack.Parse([]byte(`{"schemaVersion":1,"stacks":[
		{"trunk":{"branch":"main"},"branches":[{"branch":"a","base":"` + hash + `","pullRequest":{"number":7,"merged":true}},{"branch":"b","base":"x","pullRequest":{"number":8}},{"branch":"c"}]},
		{"trunk":{"branch":"b"},"branches":[{"branch":"d"}]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	want := source.Record{Trunks: []string{"main"}, Edges: []source.Edge{
		{Child: "a", Parent: "main", BaseHash: hash, PR: 7}, {Child: "b", Parent: "main", PR: 8}, {Child: "c", Parent: "b"}, {Child: "d", Parent: "b"},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	for _, text := range []string{"", "[]", `{"schemaVersion":2}`, `{"schemaVersion":1,"stacks":[{"trunk":{"branch":"-x y"}}]}`, `{"schemaVersion":1,"stacks":[{"trunk":{"branch":"main"},"branches":[{"branch":"../x"}]}]}`} {
		if _, err := ghstack.Parse([]byte(text)); err == nil {
			t.Errorf("%q is read", text)
		}
	}
}

func TestGitTown(t *testing.T) {
	t.Parallel()
	config, err := gitconfig.Parse([]byte("[git-town]\nmain-branch = main\nperennial-branches = rel staging\n[git-town-branch \"feat/B.c\"]\nparent = feat/a\nbranchtype = feature\n" +
		"[git-town-branch \"feat/a\"]\nparent = x\nparent = main\n[git-town-branch \"bad name\"]\nparent = main\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := source.Record{Trunks: []string{"main", "rel", "staging"}, Edges: []source.Edge{{Child: "feat/B.c", Parent: "feat/a"}, {Child: "feat/a", Parent: "main"}},
		Notes: []string{`the parent of "bad name" is not a branch`}}
	if diff := cmp.Diff(want, gittown.Lineage(config)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestGitTownFile(t *testing.T) {
	t.Parallel()
	got, ok := gittown.Trunks([]byte("[branches]\nmain = \"main\"\nperennials = [\"rel\", \"a b\"]\nperennial-regex = \"x\"\n"))
	if diff := cmp.Diff([]string{"main", "rel"}, got); diff != "" || !ok {
		t.Errorf("%v, -want +got:\n%s", ok, diff)
	}
	for _, text := range []string{"[branches", "branches = 1", "[branches]\nmain = 7"} {
		if _, ok := gittown.Trunks([]byte(text)); ok {
			t.Errorf("%q is read", text)
		}
	}
}

func FuzzRecords(f *testing.F) {
	f.Add([]byte("main\n\ta PR #1\n"))
	f.Add([]byte(`{"base":{"name":"a","hash":"` + hash + `"}}`))
	f.Add([]byte(`{"parentBranchName":"a"}`))
	f.Add([]byte(`{"schemaVersion":1,"stacks":[{"trunk":{"branch":"main"},"branches":[{"branch":"a"}]}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var all []source.Edge
		if r, err := machete.Parse(string(data)); err == nil {
			all = append(all, r.Edges...)
		}
		if r, err := ghstack.Parse(data); err == nil {
			all = append(all, r.Edges...)
		}
		if e, ok := gitspice.Branch("child", data); ok {
			all = append(all, e)
		}
		if e, err := graphite.Branch("child", data); err == nil && e.Parent != "" {
			all = append(all, e)
		}
		for _, e := range all {
			if !source.Valid(e.Child) || !source.Valid(e.Parent) || e.BaseHash != source.Hash(e.BaseHash) {
				t.Errorf("got %+v", e)
			}
		}
	})
}
