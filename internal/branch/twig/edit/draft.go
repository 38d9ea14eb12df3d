package edit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/tailscale/hujson"

	"github.com/copse-dev/copse/internal/branch/twig"
)

// Draft is a state during a change. It is for one goroutine, and unusable after the change.
//
// The lists of the file stay as they are until the end, and tables find their records by name: a file
// can have hundreds of thousands, and a change can concern each of them.
type Draft struct {
	file     hujson.Value
	root     *hujson.Object
	branches *hujson.Object
	depends  *hujson.Array
	roots    *hujson.Array

	edges edges
	links table       // the records of branches
	tops  table       // the roots
	state *twig.State // before the change
	// steps is how many more relations the search for cycles may follow.
	steps   int
	now     time.Time
	changed bool
}

// maxSteps limits the search for cycles in one change. A change of all branches of a state can follow
// all its relations for each of them.
const maxSteps = 10_000_000

func newDraft(text []byte, now time.Time) (*Draft, error) {
	state, err := twig.Parse(text)
	if err != nil {
		return nil, err
	}
	d := &Draft{state: state, now: now, steps: maxSteps}
	if d.file, err = hujson.Parse(text); err != nil {
		return nil, err
	}
	// Parse has checked that these exist, and their types.
	d.root, _ = d.file.Value.(*hujson.Object)
	d.branches, _ = value(d.root, "branches").Value.(*hujson.Object)
	d.depends, _ = value(d.root, "dependencies").Value.(*hujson.Array)
	d.roots, _ = value(d.root, "root_branches").Value.(*hujson.Array)
	d.edges = newEdges(d.depends)
	d.links, d.tops = newTable(len(d.branches.Members)), newTable(len(d.roots.Elements))
	for _, m := range d.branches.Members {
		d.links.add(literal(m.Name))
	}
	for _, e := range d.roots.Elements {
		d.tops.add(field(e, "branch"))
	}
	return d, nil
}

// Before returns the state before the change. It is empty if there was none.
func (d *Draft) Before() *twig.State { return d.state }

// Parents returns the current parents of a branch, the first one first.
func (d *Draft) Parents(child string) []string {
	var parents []string
	for _, i := range d.edges.from(child) {
		parents = append(parents, d.edges.list[i].parent)
	}
	return parents
}

// CycleError reports that a branch cannot be stacked on another.
type CycleError struct {
	// Path leads from the intended parent up to the child.
	Path []string
}

func (e *CycleError) Error() string {
	child, parent := e.Path[len(e.Path)-1], e.Path[0]
	if child == parent {
		return fmt.Sprintf("%s cannot be stacked on itself", child)
	}
	return fmt.Sprintf("%s cannot be stacked on %s, which is already stacked on it: %s", child, parent, strings.Join(e.Path, " → "))
}

// Depend stacks child on parent. It changes nothing if child is already stacked on parent, and
// returns a *CycleError if parent is stacked on child, directly or over other branches.
func (d *Draft) Depend(child, parent string) error {
	if err := d.cycle(child, parent); err != nil {
		return err
	}
	if len(d.edges.between(child, parent)) > 0 {
		return nil
	}
	d.changed = true
	d.edges.add(child, parent)
	return push(d.depends, struct {
		ID        string `json:"id"`
		Child     string `json:"child"`
		Parent    string `json:"parent"`
		CreatedAt string `json:"created_at"`
	}{uuid.NewString(), child, parent, stamp(d.now) + "Z"})
}

// cycle returns a *CycleError if parent is stacked on child, directly or over other branches.
func (d *Draft) cycle(child, parent string) error {
	if child != parent && !d.edges.isParent(child) {
		return nil // nothing is stacked on it
	}
	came := map[string]string{parent: parent}
	for next := []string{parent}; len(next) > 0; next = next[1:] {
		at := next[0]
		if at == child {
			path := []string{child}
			for at != parent {
				at = came[at]
				path = append(path, at)
			}
			slices.Reverse(path)
			return &CycleError{Path: path}
		}
		parents := d.Parents(at)
		if d.steps -= 1 + len(parents); d.steps < 0 {
			return fmt.Errorf("%s has too many relations between branches to change all of these at once; change fewer branches", twig.Name)
		}
		for _, up := range parents {
			if _, seen := came[up]; !seen {
				came[up] = at
				next = append(next, up)
			}
		}
	}
	return nil
}

// Undepend removes parent from the parents of child, or all parents if parent is "". It returns the
// removed parents.
func (d *Draft) Undepend(child, parent string) (removed []string) {
	found := d.edges.from(child)
	if parent != "" {
		found = d.edges.between(child, parent)
	}
	for _, i := range found {
		removed = append(removed, d.edges.list[i].parent)
		d.edges.remove(i)
	}
	d.changed = d.changed || len(removed) > 0
	return removed
}

// AddRoot marks a branch as a root. With standard, it becomes the only default root; without, a
// root does not change.
func (d *Draft) AddRoot(branch string, standard bool) error {
	found := false
	for i := range d.roots.Elements {
		if d.tops.gone[i] {
			continue
		}
		is := value(object(d.roots.Elements[i]), "is_default")
		switch {
		case d.tops.names[i] == branch:
			found = true
			if standard && !truth(*is) {
				is.Value, d.changed = hujson.Bool(true), true
			}
		case standard && truth(*is):
			is.Value, d.changed = hujson.Bool(false), true
		}
	}
	if found {
		return nil
	}
	d.changed = true
	d.tops.add(branch)
	return push(d.roots, struct {
		ID        string `json:"id"`
		Branch    string `json:"branch"`
		IsDefault bool   `json:"is_default"`
		CreatedAt string `json:"created_at"`
	}{uuid.NewString(), branch, standard, stamp(d.now) + "Z"})
}

// RemoveRoot removes a branch from the roots; no other becomes the default. It returns false if the
// branch is not a root.
func (d *Draft) RemoveRoot(branch string) bool {
	removed := d.tops.remove(branch)
	d.changed = d.changed || removed
	return removed
}

// Links are the links of a branch. [Draft.Link] does not change a zero field, and [Draft.Unlink]
// ignores it.
type Links struct {
	Jira string
	PR   uint32
}

// Link links a branch to an issue, to a pull request, or to both.
func (d *Draft) Link(branch string, links Links) error {
	if i := d.links.last(branch); i >= 0 {
		return d.relink(d.branches.Members[i].Value, links)
	}
	at := d.now
	if links.Jira != "" {
		at = at.Truncate(time.Second)
	}
	record := struct {
		Branch    string  `json:"branch"`
		Jira      *string `json:"jira_issue"`
		PR        *uint32 `json:"github_pr"`
		CreatedAt string  `json:"created_at"`
	}{Branch: branch, CreatedAt: stamp(at) + "+00:00"}
	if links.Jira != "" {
		record.Jira = &links.Jira
	}
	if links.PR != 0 {
		record.PR = &links.PR
	}
	v, err := parsed(record)
	if err != nil {
		return err
	}
	d.changed = true
	d.links.add(branch)
	d.branches.Members = append(d.branches.Members, hujson.ObjectMember{Name: name(branch), Value: v})
	return nil
}

// relink sets links in the record of a branch, and keeps the rest of it.
func (d *Draft) relink(record hujson.Value, links Links) error {
	o, _ := record.Value.(*hujson.Object)
	set := func(key string, v hujson.ValueTrimmed) {
		old := value(o, key)
		if old == nil {
			o.Members = append(o.Members, hujson.ObjectMember{Name: name(key), Value: hujson.Value{Value: v}})
			d.changed = true
			return
		}
		if (&hujson.Value{Value: v}).String() != (&hujson.Value{Value: old.Value}).String() {
			old.Value, d.changed = v, true
		}
	}
	if links.Jira != "" {
		set("jira_issue", hujson.String(links.Jira))
	}
	if links.PR != 0 {
		set("github_pr", hujson.Uint(uint64(links.PR)))
	}
	return nil
}

// Unlink removes the links of a branch that are not zero in what. A branch without links loses its
// record, but not its parents. Unlink returns false if there was nothing to remove.
func (d *Draft) Unlink(branch string, jira, pr bool) bool {
	i := d.links.last(branch)
	if i < 0 {
		return false
	}
	o, _ := d.branches.Members[i].Value.Value.(*hujson.Object)
	taken := false
	left := 0
	for key, take := range map[string]bool{"jira_issue": jira, "github_pr": pr} {
		v := value(o, key)
		if v == nil || v.Value.Kind() == 'n' {
			continue
		}
		if !take {
			left++
			continue
		}
		v.Value, taken = hujson.Literal("null"), true
	}
	if left == 0 {
		// A name that the file repeats is one branch.
		taken = d.links.remove(branch)
	}
	d.changed = d.changed || taken
	return taken
}

// text returns the state as twig writes it.
func (d *Draft) text() ([]byte, error) {
	d.depends.Elements = present(d.depends.Elements, func(i int) bool { return d.edges.list[i].gone })
	d.branches.Members = present(d.branches.Members, func(i int) bool { return d.links.gone[i] })
	d.roots.Elements = present(d.roots.Elements, func(i int) bool { return d.tops.gone[i] })
	value(d.root, "updated_at").Value = hujson.String(stamp(d.now) + "Z")
	d.file.Minimize() // an empty list would otherwise end in a comma
	return pretty(d.file.Pack())
}

// entry returns the index of the effective member with a name: the last one.
func entry(o *hujson.Object, name string) int {
	for i, m := range slices.Backward(o.Members) {
		if literal(m.Name) == name {
			return i
		}
	}
	return -1
}

// value returns the member of a name, nil if there is none.
func value(o *hujson.Object, name string) *hujson.Value {
	if i := entry(o, name); i >= 0 {
		return &o.Members[i].Value
	}
	return nil
}

func object(v hujson.Value) *hujson.Object {
	o, ok := v.Value.(*hujson.Object)
	if !ok {
		return &hujson.Object{}
	}
	return o
}

// field returns a member of a record that is a string.
func field(record hujson.Value, name string) string {
	if v := value(object(record), name); v != nil {
		return literal(*v)
	}
	return ""
}

func literal(v hujson.Value) string {
	l, _ := v.Value.(hujson.Literal)
	return l.String()
}

func truth(v hujson.Value) bool {
	l, _ := v.Value.(hujson.Literal)
	return l.Bool()
}

// push adds a record at the end of a list.
func push(list *hujson.Array, record any) error {
	v, err := parsed(record)
	if err == nil {
		list.Elements = append(list.Elements, v)
	}
	return err
}

// name returns a member's name, or a string, in the form of the file.
func name(s string) hujson.Value {
	v, _ := parsed(s) // a string is always JSON
	return v
}

// parsed returns a value in the form of the file. Like twig, it does not escape HTML.
func parsed(record any) (hujson.Value, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(record); err != nil {
		return hujson.Value{}, err
	}
	return hujson.Parse(bytes.TrimSpace(b.Bytes()))
}
