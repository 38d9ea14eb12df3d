package lineage_test

import (
	"strings"
	"testing"

	"github.com/copse-dev/copse/internal/branch/lineage"
	"github.com/copse-dev/copse/internal/branch/twig"
)

func TestStack(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		edges string // CHILD:PARENT, in the order of the state
		gone  string // branches that git does not have
		start string
		want  string // the trunk, and the branches of the stack
	}{
		"a line":             {"a:main b:a c:b", "", "b", "main: a b c"},
		"from the trunk":     {"a:main b:a x:main", "", "main", "main: a b x"},
		"siblings stay away": {"a:main b:a x:a", "", "b", "main: a b"},
		"a tree":             {"a:main b:a x:a y:x", "", "a", "main: a b x y"},
		"one that is gone":   {"a:main b:a c:b", "b", "c", "main: a c"},
		"all below are gone": {"a:main b:a c:b", "a b", "c", "main: c"},
		"it is gone itself":  {"a:main b:a", "b", "b", "main: a b"},
		"a cycle":            {"a:b b:a", "", "a", "main: b a"},
		"a cycle of gone":    {"a:x x:y y:x", "x y", "a", "main: a"},
		"alone":              {"", "", "a", "main: a"},
		"the first counts":   {"a:main a:b b:main", "", "a", "main: a"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			doc := twig.Document{Version: 1}
			for edge := range strings.FieldsSeq(tt.edges) {
				child, parent, _ := strings.Cut(edge, ":")
				doc.Dependencies = append(doc.Dependencies, twig.Dependency{Child: child, Parent: parent})
			}
			w := lineage.New(twig.NewState(doc), "main", func(name string) bool {
				return !strings.Contains(" "+tt.gone+" ", " "+name+" ")
			})
			trunk, names := w.Stack(tt.start, w.Children())
			if got := trunk + ": " + strings.Join(names, " "); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

// Every branch of a stack has the same bottom.
func TestBottom(t *testing.T) {
	t.Parallel()
	doc := twig.Document{Version: 1}
	for _, edge := range []string{"a:main", "b:a", "c:b", "x:y", "y:x"} {
		doc.Dependencies = append(doc.Dependencies, twig.Dependency{Child: edge[:1], Parent: edge[2:]})
	}
	w := lineage.New(twig.NewState(doc), "main", func(string) bool { return true })
	known := map[string]string{}
	for name, want := range map[string]string{"a": "a", "b": "a", "c": "a", "x": "x", "y": "x", "z": "z"} {
		if got := w.Bottom(name, known); got != want {
			t.Errorf("the bottom of %s is %s, want %s", name, got, want)
		}
	}
}
