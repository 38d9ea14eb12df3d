package edit_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/copse-dev/copse/internal/branch/twig"
	"github.com/copse-dev/copse/internal/branch/twig/edit"
	"github.com/copse-dev/copse/internal/lockedstore/lockedstoretest"
)

func at(ns int) func() time.Time {
	return func() time.Time { return time.Date(2026, 11, 20, 23, 28, 36, ns, time.UTC) }
}

// read returns the state of a worktree, with the ids and times that twig would take.
func read(tb testing.TB, root string) string {
	tb.Helper()
	data, err := os.ReadFile(twig.Path(root))
	if err != nil {
		tb.Fatal(err)
	}
	return regexp.MustCompile(`"id": "[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"`).ReplaceAllString(string(data), `"id": "UUID"`)
}

func change(tb testing.TB, file *edit.File, do func(*edit.Draft) error) bool {
	tb.Helper()
	changed, err := file.Change(tb.Context(), do)
	if err != nil {
		tb.Fatal(err)
	}
	return changed
}

// A change that fails, or that changes nothing, creates no directory in a repository without one.
func TestNothingIsCreatedInVain(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	refused := errors.New("refused")
	for _, want := range []error{refused, nil} {
		changed, err := edit.At(root, at(0)).Change(t.Context(), func(*edit.Draft) error { return want })
		if changed || !errors.Is(err, want) {
			t.Errorf("changed is %t, %v", changed, err)
		}
		if left, err := os.ReadDir(root); err != nil || len(left) > 0 {
			t.Errorf("%v is left behind, %v", left, err)
		}
	}
}

// The file that twig would have written, byte for byte.
func TestAsTwigWrites(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	change(t, edit.At(root, at(468797494)), func(d *edit.Draft) error { return d.AddRoot("main", true) })
	change(t, edit.At(root, at(479000316)), func(d *edit.Draft) error { return d.Depend("feature/a&b", "main") })
	change(t, edit.At(root, at(500000000)), func(d *edit.Draft) error { return d.Link("feature/a&b", edit.Links{Jira: "PROJ-1"}) })
	change(t, edit.At(root, at(523108000)), func(d *edit.Draft) error { return d.Link("größe", edit.Links{PR: 43}) })
	const want = `{
  "version": 1,
  "updated_at": "2026-11-20T23:28:36.523108Z",
  "worktrees": [],
  "branches": {
    "feature/a&b": {
      "branch": "feature/a&b",
      "jira_issue": "PROJ-1",
      "github_pr": null,
      "created_at": "2026-11-20T23:28:36+00:00"
    },
    "größe": {
      "branch": "größe",
      "jira_issue": null,
      "github_pr": 43,
      "created_at": "2026-11-20T23:28:36.523108+00:00"
    }
  },
  "dependencies": [
    {
      "id": "UUID",
      "child": "feature/a&b",
      "parent": "main",
      "created_at": "2026-11-20T23:28:36.479000316Z"
    }
  ],
  "root_branches": [
    {
      "id": "UUID",
      "branch": "main",
      "is_default": true,
      "created_at": "2026-11-20T23:28:36.468797494Z"
    }
  ]
}`
	if diff := cmp.Diff(want, read(t, root)); diff != "" {
		t.Error(diff)
	}
	if ignore, err := os.ReadFile(filepath.Join(root, ".twig", ".gitignore")); err != nil || string(ignore) != "*\n" {
		t.Errorf(".gitignore has %q, %v", ignore, err)
	}
}

const written = `{"version":1,"updated_at":"2026-01-01T00:00:00Z","future":{"a":[1.50,"<"]},
"worktrees":[{"name":"w","path":"/w","branch":"b","created_at":"t","more":1}],
"branches":{"b":{"branch":"b","jira_issue":"P-1","github_pr":7,"created_at":"then","x":[]},"c":{"branch":"c","created_at":"then"}},
"dependencies":[{"id":"i","child":"b","parent":"main","created_at":"t","note":"kept"},{"id":"j","child":"c","parent":"b","created_at":"t"}],
"root_branches":[{"id":"k","branch":"main","is_default":true,"created_at":"t"},{"id":"l","branch":"dev","is_default":false,"created_at":"t"}]}`

func withState(tb testing.TB, text string) (root string, file *edit.File) {
	tb.Helper()
	root = tb.TempDir()
	if err := os.Mkdir(filepath.Join(root, ".twig"), 0o700); err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(twig.Path(root), []byte(text), 0o600); err != nil {
		tb.Fatal(err)
	}
	return root, edit.At(root, at(0))
}

// Each change, on a file that has more in it than is known here.
func TestChanges(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		do   func(*edit.Draft) error
		want []string // to be found
		gone []string
	}{
		"link again": {
			func(d *edit.Draft) error { return d.Link("b", edit.Links{PR: 8}) },
			[]string{`"github_pr": 8`, `"jira_issue": "P-1"`, `"created_at": "then"`, `"x": []`}, []string{`"github_pr": 7`},
		},
		"link what has no such member": {
			func(d *edit.Draft) error { return d.Link("c", edit.Links{Jira: "P-2"}) },
			[]string{`"jira_issue": "P-2"`}, nil,
		},
		"unlink one": {
			func(d *edit.Draft) error { d.Unlink("b", true, false); return nil },
			[]string{`"jira_issue": null`, `"github_pr": 7`}, []string{"P-1"},
		},
		"unlink all": {
			func(d *edit.Draft) error { d.Unlink("b", true, true); return nil },
			[]string{`"child": "b"`}, []string{`"branch": "b",
      "jira`},
		},
		"another default": {
			func(d *edit.Draft) error { return d.AddRoot("dev", true) },
			[]string{"\"main\",\n      \"is_default\": false", "\"dev\",\n      \"is_default\": true"}, nil,
		},
		"remove the default": {
			func(d *edit.Draft) error { d.RemoveRoot("main"); return nil },
			[]string{"\"dev\",\n      \"is_default\": false"}, []string{`"k"`},
		},
		"undepend": {
			func(d *edit.Draft) error { d.Undepend("c", ""); return nil },
			[]string{`"child": "b"`}, []string{`"child": "c"`},
		},
		"a second parent": {
			func(d *edit.Draft) error { return d.Depend("c", "dev") },
			[]string{`"parent": "dev"`, `"parent": "b"`}, nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root, file := withState(t, written)
			if !change(t, file, tt.do) {
				t.Fatal("nothing was changed")
			}
			got := read(t, root)
			for _, text := range append(tt.want, `"future": {`, `1.50`, `"<"`, `"more": 1`, `"note": "kept"`, `"updated_at": "2026-11-20T23:28:36Z"`) {
				if !strings.Contains(got, text) {
					t.Errorf("%s is missing in\n%s", text, got)
				}
			}
			for _, text := range tt.gone {
				if strings.Contains(got, text) {
					t.Errorf("%s is still in\n%s", text, got)
				}
			}
			if _, err := twig.Parse([]byte(got)); err != nil {
				t.Error(err)
			}
		})
	}
}

// A change that is already made touches nothing.
func TestNothingToChange(t *testing.T) {
	t.Parallel()
	root, file := withState(t, written)
	for name, do := range map[string]func(*edit.Draft) error{
		"depend":   func(d *edit.Draft) error { return d.Depend("b", "main") },
		"root":     func(d *edit.Draft) error { return d.AddRoot("main", true) },
		"plain":    func(d *edit.Draft) error { return d.AddRoot("dev", false) },
		"link":     func(d *edit.Draft) error { return d.Link("b", edit.Links{Jira: "P-1", PR: 7}) },
		"unlink":   func(d *edit.Draft) error { d.Unlink("none", true, true); return nil },
		"undepend": func(d *edit.Draft) error { d.Undepend("b", "c"); return nil },
		"remove":   func(d *edit.Draft) error { d.RemoveRoot("none"); return nil },
	} {
		if change(t, file, do) || read(t, root) != written {
			t.Errorf("%s changed the file", name)
		}
	}
	if _, err := os.Stat(filepath.Join(root, ".twig", ".gitignore")); err == nil {
		t.Error(".gitignore was made for nothing")
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	root, file := withState(t, written)
	for _, tt := range []struct{ child, parent, want string }{
		{"b", "b", "b cannot be stacked on itself"},
		{"main", "c", "main cannot be stacked on c, which is already stacked on it: c → b → main"},
	} {
		_, err := file.Change(t.Context(), func(d *edit.Draft) error { return d.Depend(tt.child, tt.parent) })
		if _, ok := errors.AsType[*edit.CycleError](err); !ok || err.Error() != tt.want {
			t.Errorf("got %v, want %s", err, tt.want)
		}
	}
	if read(t, root) != written {
		t.Error("the file was changed")
	}
	for _, broken := range []string{"", "{}", "\xef\xbb\xbf" + written, written[:40]} {
		root, file := withState(t, broken)
		_, err := file.Change(t.Context(), func(d *edit.Draft) error { return d.AddRoot("x", true) })
		if _, ok := errors.AsType[*twig.BadStateError](err); !ok || read(t, root) != broken {
			t.Errorf("%q: %v", broken, err)
		}
	}
}

// A state that no reader would accept is not written.
func TestTooLarge(t *testing.T) {
	t.Parallel()
	note := strings.Repeat("n", twig.MaxSize-len(written)-100)
	large := strings.Replace(written, "{", `{"note":"`+note+`",`, 1)
	root, file := withState(t, large)
	_, err := file.Change(t.Context(), func(d *edit.Draft) error { return d.AddRoot(strings.Repeat("r", 400), false) })
	if err == nil || !strings.Contains(err.Error(), "would be too large to be read") {
		t.Errorf("got %v", err)
	}
	if read(t, root) != large {
		t.Error("the file was changed")
	}
}

// An ignore file that hides the directory, in whatever words, stays.
func TestIgnoreFileStays(t *testing.T) {
	t.Parallel()
	root, file := withState(t, written)
	ignore := filepath.Join(root, ".twig", ".gitignore")
	for before, after := range map[string]string{"# mine\n  *\n": "# mine\n  *\n", "other\n": "*\n"} {
		if err := os.WriteFile(ignore, []byte(before), 0o600); err != nil {
			t.Fatal(err)
		}
		change(t, file, func(d *edit.Draft) error { return d.AddRoot(fmt.Sprint(len(before)), false) })
		if got, _ := os.ReadFile(ignore); string(got) != after {
			t.Errorf("%q became %q", before, got)
		}
	}
}

// Many writers at once lose nothing.
func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			file := edit.At(root, time.Now)
			for j := range 5 {
				if _, err := file.Change(t.Context(), func(d *edit.Draft) error { return d.Depend(fmt.Sprintf("b%d-%d", i, j), "main") }); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	state, err := twig.Parse([]byte(read(t, root)))
	if err != nil || len(state.Dependencies) != 80 {
		t.Errorf("%v, %v", err, state)
	}
}

// Whatever is done, the file stays one that can be read, without a cycle, and means what
// the draft said.
func TestAnyChanges(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		root := t.TempDir()
		file := edit.At(root, at(1))
		branches := rapid.SampledFrom([]string{"main", "a", "b/c", "ü\"x", "<d>"})
		for range rapid.IntRange(1, 12).Draw(rt, "n") {
			a, b := branches.Draw(rt, "a"), branches.Draw(rt, "b")
			var parents []string
			what := rapid.IntRange(0, 5).Draw(rt, "what")
			_, err := file.Change(t.Context(), func(d *edit.Draft) error {
				var err error
				switch what {
				case 0, 1:
					err = d.Depend(a, b)
				case 2:
					d.Undepend(a, "")
				case 3:
					err = d.AddRoot(a, rapid.Bool().Draw(rt, "default"))
				case 4:
					err = d.Link(a, edit.Links{PR: uint32(rapid.IntRange(1, 9).Draw(rt, "pr"))})
				case 5:
					d.Unlink(a, false, true)
				}
				parents = slices.Clone(d.Parents(a))
				return err
			})
			if _, cycle := errors.AsType[*edit.CycleError](err); err != nil && !cycle {
				rt.Fatal(err)
			}
			if err != nil {
				continue
			}
			data, err := os.ReadFile(twig.Path(root))
			if errors.Is(err, os.ErrNotExist) {
				continue
			}
			state, err := twig.Parse(data)
			if err != nil {
				rt.Fatal(err, string(data))
			}
			if !slices.Equal(state.Parents(a), parents) {
				rt.Fatalf("%q has the parents %q in the file and %q in the draft", a, state.Parents(a), parents)
			}
			standard := 0
			for _, r := range state.Roots {
				if r.IsDefault {
					standard++
				}
			}
			if standard > 1 {
				rt.Fatalf("%d default roots", standard)
			}
		}
	})
}

// Both contents are on disk before either file is in place, and the rule that hides the
// state from git is there before the state.
func TestOrderOnDisk(t *testing.T) {
	t.Parallel()
	file := edit.At(t.TempDir(), at(0))
	var disk lockedstoretest.Recorder
	edit.On(file, &disk)
	change(t, file, func(d *edit.Draft) error { return d.AddRoot("main", true) })
	const want = `content .gitignore
content state.json
put .gitignore
put state.json
names .
`
	if got := disk.Steps(); got != want {
		t.Errorf("got:\n%s", got)
	}
}

// All parents of a branch can be removed, however many it has.
func TestUndependMany(t *testing.T) {
	t.Parallel()
	const many = 20_000
	root := t.TempDir()
	var text strings.Builder
	text.WriteString(`{"version":1,"updated_at":"","worktrees":[],"branches":{},"root_branches":[],"dependencies":[`)
	for i := range many {
		if i > 0 {
			text.WriteString(",")
		}
		fmt.Fprintf(&text, `{"id":"","child":"c","parent":"p%d","created_at":""}`, i)
	}
	text.WriteString("]}")
	if err := os.MkdirAll(filepath.Dir(twig.Path(root)), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(twig.Path(root), []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	change(t, edit.At(root, at(0)), func(d *edit.Draft) error {
		began := time.Now()
		if removed := d.Undepend("c", ""); len(removed) != many || len(d.Parents("c")) != 0 {
			t.Errorf("removed %d, left %d", len(removed), len(d.Parents("c")))
		}
		if took := time.Since(began); took > 2*time.Second {
			t.Errorf("it took %v", took)
		}
		return nil
	})
}
