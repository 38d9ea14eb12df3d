package prune_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/copse-dev/copse/internal/branch/prune"
	"github.com/copse-dev/copse/internal/branch/twig"
	"github.com/copse-dev/copse/internal/git/history"
)

func TestPlan(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		stacks string // "child<parent", in the order of the file
		git    string // branches; "new=old" was renamed
		merged string
		want   string
	}{
		"nothing":               {"a<main b<a", "main a b", "", ""},
		"parent gone":           {"a<main b<a", "main b", "", "reparent b a main|forget a"},
		"two parents gone":      {"a<main b<a c<b", "main c", "", "reparent c b main|forget a|forget b"},
		"middle gone":           {"a<main b<a c<b", "main a c", "", "reparent c b a|forget b"},
		"undeclared root":       {"b<a", "main b", "", "reparent b a main|forget a"},
		"merged":                {"a<main b<a", "main a b", "a", "reparent b a main"},
		"merged twice":          {"a<main b<a c<b", "main a b c", "a b", "reparent b a main|reparent c b main"},
		"renamed":               {"a<main b<a", "main login=a b", "", "rename a login"},
		"renamed and merged":    {"a<main b<a", "main login=a b", "login", "rename a login|reparent b login main"},
		"two have the name":     {"a<main b<a", "main x=a y=a b", "", "reparent b a main|forget a"},
		"only child gone":       {"a<main b<a", "main a", "", "forget b"},
		"two parents":           {"a<main c<a c<b b<main", "main b c", "", "reparent c a main|forget a"},
		"the trunk was renamed": {"a<master", "main=master a", "", "rename master main"},
		"cycle":                 {"a<b b<a", "main a", "", "reparent a b main|forget b"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := prune.Known{Root: "main", Logs: map[string]history.Log{}}
			var doc twig.Document
			for pair := range strings.FieldsSeq(tt.stacks) {
				child, parent, _ := strings.Cut(pair, "<")
				doc.Dependencies = append(doc.Dependencies, twig.Dependency{Child: child, Parent: parent})
			}
			k.State = twig.NewState(doc)
			for pair := range strings.FieldsSeq(tt.git) {
				name, was, renamed := strings.Cut(pair, "=")
				log := history.Log{}
				if renamed {
					log.Names = []string{was}
				}
				k.Logs[name] = log
			}
			k.Merged = func(branch string) string {
				if strings.Contains(" "+tt.merged+" ", " "+branch+" ") {
					return "main has it"
				}
				return ""
			}
			var got []string
			for _, c := range prune.Plan(k) {
				text := fmt.Sprintf("%s %s %s %s", c.Kind, c.Branch, c.From, c.To)
				if c.Kind == prune.Rename {
					text = fmt.Sprintf("%s %s %s", c.Kind, c.From, c.To)
				}
				got = append(got, strings.TrimSpace(text))
			}
			if strings.Join(got, "|") != tt.want {
				t.Errorf("got %s, want %s", strings.Join(got, "|"), tt.want)
			}
		})
	}
}

// A state can declare hundreds of thousands of parents and roots; a plan reads them once.
func TestManyParentsAndRoots(t *testing.T) {
	t.Parallel()
	const many = 30_000
	var star, roots twig.Document
	for i := range many {
		n := strconv.Itoa(i)
		star.Dependencies = append(star.Dependencies, twig.Dependency{Child: "c", Parent: "p" + n})
		roots.Dependencies = append(roots.Dependencies, twig.Dependency{Child: "p" + n, Parent: "q" + n})
		roots.Roots = append(roots.Roots, twig.Root{Branch: "q" + n})
	}
	for name, tt := range map[string]struct {
		doc  twig.Document
		want int
	}{
		"parents of one branch": {star, 2 * many}, // c leaves each, and each is forgotten
		"roots":                 {roots, many},
	} {
		done := make(chan int, 1)
		go func() {
			done <- len(prune.Plan(prune.Known{
				State: twig.NewState(tt.doc), Root: "main", Logs: map[string]history.Log{"main": {}, "c": {}},
				Merged: func(string) string { return "" },
			}))
		}()
		select {
		case got := <-done:
			if got != tt.want {
				t.Errorf("%s: %d changes, not %d", name, got, tt.want)
			}
		case <-time.After(5 * time.Second):
			t.Fatalf("%s: no plan after 5 seconds", name)
		}
	}
}
