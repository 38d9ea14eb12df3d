package changes

import (
	"fmt"
	"slices"
	"strings"

	"github.com/copse-dev/copse/internal/item"
)

// patchField is a field of an [item.Patch], for what treats all of them alike.
type patchField struct {
	name string
	// copy copies the field of one patch to another.
	copy func(to, from *item.Patch)
	// same reports whether two patches have the same value.
	same func(a, b *item.Patch) bool
	// text returns the value as people read it, false if the patch has none.
	text func(*item.Patch) (string, bool)
}

// size returns how many bytes the value of a patch has.
func (f patchField) size(p *item.Patch) int {
	text, _ := f.text(p)
	return len(text)
}

// fieldOf returns a field that at finds in a patch.
func fieldOf[T any](name string, at func(*item.Patch) **T, same func(a, b T) bool, text func(T) string) patchField {
	return patchField{
		name: name,
		copy: func(to, from *item.Patch) { *at(to) = *at(from) },
		same: func(a, b *item.Patch) bool {
			x, y := *at(a), *at(b)
			return x == y || x != nil && y != nil && same(*x, *y)
		},
		text: func(p *item.Patch) (string, bool) {
			if v := *at(p); v != nil {
				return text(*v), true
			}
			return "", false
		},
	}
}

// scalars is the number of the fields, the first ones, of whose values a merge chooses one.
const scalars = 6

// patchFields returns the fields of a patch, in the order in which an item shows them.
func patchFields() []patchField {
	text := func(name string, at func(*item.Patch) **string) patchField {
		return fieldOf(name, at, func(a, b string) bool { return a == b }, func(s string) string { return s })
	}
	return []patchField{
		text("title", func(p *item.Patch) **string { return &p.Title }),
		text("type", func(p *item.Patch) **string { return &p.Type }),
		text("status", func(p *item.Patch) **string { return &p.Status }),
		text("priority", func(p *item.Patch) **string { return &p.Priority }),
		text("iteration", func(p *item.Patch) **string { return &p.Iteration }),
		text("assignee", func(p *item.Patch) **string { return &p.Assignee }),
		fieldOf("labels", func(p *item.Patch) **[]string { return &p.Labels }, slices.Equal, func(l []string) string { return strings.Join(l, ", ") }),
		fieldOf("parent", func(p *item.Patch) **item.ID { return &p.Parent }, func(a, b item.ID) bool { return a == b }, reference),
		fieldOf("depends_on", func(p *item.Patch) **[]item.ID { return &p.DependsOn }, slices.Equal, func(l []item.ID) string {
			refs := make([]string, len(l))
			for i, id := range l {
				refs[i] = reference(id)
			}
			return strings.Join(refs, ", ")
		}),
		text("description", func(p *item.Patch) **string { return &p.Description }),
		text("branch", func(p *item.Patch) **string { return &p.Branch }),
		text("worktree", func(p *item.Patch) **string { return &p.Worktree }),
		text("pull_request", func(p *item.Patch) **string { return &p.PullRequest }),
	}
}

// reference returns the number as people write it; "" for no item.
func reference(id item.ID) string {
	if id == 0 {
		return ""
	}
	return fmt.Sprintf("#%d", id)
}

// patchOf returns the patch that gives an item all its values.
func patchOf(it *item.Item) item.Patch {
	// Never nil, which JSON cannot tell from a field that stays.
	labels, dependsOn := append([]string{}, it.Labels...), append([]item.ID{}, it.DependsOn...)
	return item.Patch{
		Title: new(it.Title), Type: new(it.Type), Status: new(it.Status), Priority: new(it.Priority), Assignee: new(it.Assignee),
		Iteration: new(it.Iteration), Labels: &labels, Parent: new(it.Parent), DependsOn: &dependsOn, Description: new(it.Description),
		Branch: new(it.Link.Branch), Worktree: new(it.Link.Worktree), PullRequest: new(it.Link.PullRequest),
	}
}
