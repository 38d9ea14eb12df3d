package stores

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/copse-dev/copse/internal/test/soak/rig"
	"github.com/copse-dev/copse/internal/test/stdio"
)

// processes is how many servers share a store.
const processes = 16

// ManyProcesses lets sixteen servers work on one store at the same time.
func ManyProcesses(r *rig.Rig) ([]rig.Result, error) {
	dir, err := r.Repository("many")
	if err != nil {
		return nil, err
	}
	res := rig.Result{What: fmt.Sprintf("changes of one store by %d processes at once", processes)}
	outcomes := make([]outcome, processes)
	var working sync.WaitGroup
	for p := range processes {
		s, err := stdio.Spawn(r.Context, dir, r.Copse(), "mcp", "serve")
		if err != nil {
			return nil, err
		}
		defer s.End()
		working.Go(func() {
			for n := 0; n < 15 || r.GoOn() && n < 200; n++ {
				if !outcomes[p].step(s, fmt.Sprintf("process %d item %d", p, n)) {
					return
				}
			}
		})
	}
	working.Wait()
	out, err := r.Command(dir, nil, "item", "list", "--all", "--json")
	if err != nil {
		return nil, err
	}
	var items []struct {
		ID    int
		Title string
	}
	if err := json.Unmarshal([]byte(out), &items); err != nil {
		return nil, err
	}
	ids, titles := make(map[int]bool), make(map[string]bool)
	for _, it := range items {
		ids[it.ID], titles[it.Title] = true, true
	}
	first, err := r.Command(dir, nil, "item", "show", "1", "--json")
	if err != nil {
		return nil, err
	}
	for _, o := range outcomes {
		o.judge(&res, titles, first)
	}
	if len(ids) != len(items) {
		res.Lost++
		res.Note = "two items have one number"
	}
	return []rig.Result{res}, nil
}

// outcome is what became of the changes of one process.
type outcome struct {
	made    []string
	changed int
	err     error
}

// step makes an item, changes it, and comments on another. It reports whether all of it
// succeeded.
func (o *outcome) step(s *stdio.Server, title string) bool {
	id, err := change(s, "create_item", map[string]any{"title": title})
	if err == nil {
		o.made = append(o.made, title)
		_, err = change(s, "update_item", map[string]any{"id": id, "status": "todo"})
	}
	if err == nil {
		// All processes comment on one item: each comment must stay.
		_, err = change(s, "add_comment", map[string]any{"id": 1, "text": title})
	}
	if err != nil {
		o.err = err
		return false
	}
	o.changed += 3
	return true
}

// judge counts which changes are there: titles are those of all items, and commented is
// the item with all comments.
func (o *outcome) judge(res *rig.Result, titles map[string]bool, commented string) {
	res.Tried += o.changed
	res.Survived += o.changed
	if o.err != nil {
		res.Tried++
		res.Lost++
		res.Note = o.err.Error()
	}
	for _, title := range o.made {
		if !titles[title] || !strings.Contains(commented, `"`+title+`"`) {
			res.Survived--
			res.Lost++
			res.Note = title + " is lost"
		}
	}
}

// change calls a tool that changes an item, and returns its number.
func change(s *stdio.Server, tool string, args map[string]any) (int, error) {
	params, err := json.Marshal(args)
	if err != nil {
		return 0, err
	}
	_, line, err := s.Call(tool, string(params))
	if err != nil {
		return 0, err
	}
	var a struct {
		Result struct{ StructuredContent struct{ ID int } }
	}
	err = json.Unmarshal(line, &a)
	return a.Result.StructuredContent.ID, err
}
