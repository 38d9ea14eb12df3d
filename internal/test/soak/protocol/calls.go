package protocol

import (
	"fmt"
	"os/exec"

	"github.com/copse-dev/copse/internal/test/soak/rig"
	"github.com/copse-dev/copse/internal/test/stdio"
)

// million is how many calls the long form makes, if its time is enough.
const million = 1_000_000

// ManyCalls makes mixed calls of all toolsets at one server, a thousand under way at a time, and
// measures its memory and files.
func ManyCalls(r *rig.Rig) ([]rig.Result, error) {
	dir, err := r.Repository("calls")
	if err != nil {
		return nil, err
	}
	s, err := stdio.Spawn(r.Context, dir, r.Copse(), "mcp", "serve")
	if err != nil {
		return nil, err
	}
	defer s.End()
	_, noJust := exec.LookPath("just")
	mix := []struct {
		every      int
		tool, args string
	}{
		{50_000, "get_project_context", `{"sections":["project","stack","items","git"]}`},
		{10_000, "run_just_task", `{"task_name":"hello"}`},
		{2_000, "create_item", `{"title":"One more","labels":"a,b"}`},
		{500, "update_item", `{"id":1,"description":"changed"}`},
		{101, "get_branch_tree", "{}"}, {97, "list_items", `{"limit":5}`}, {89, "search_items", `{"query":"one","limit":5}`}, {83, "get_item_tree", `{"root":1}`},
		{11, "list_directory", `{"path":"."}`}, {7, "search", `{"query":"commit"}`}, {5, "get_branch_stack", "{}"}, {3, "read_file", `{"path":"README.md"}`},
		{2, "show_item", `{"id":1}`}, {1, "get_current_branch", "{}"},
	}
	const batch = 1000
	total, failed := 0, 0
	memory, files := 0.0, 0
	for (total < million) && (total < 20*batch || r.GoOn()) {
		_, bad, err := s.Pipeline(batch, func(i int) (string, string) {
			n := total + i + 1
			for _, m := range mix {
				if n%m.every == 0 && (m.tool != "run_just_task" || noJust == nil) {
					return m.tool, m.args
				}
			}
			return "get_current_branch", "{}"
		})
		if err != nil {
			return nil, fmt.Errorf("after %d calls: %w", total, err)
		}
		failed += bad
		if total += batch; total == 10*batch { // warm
			memory, files = s.Memory(), stdio.FilesOf(s.Process.Pid)
		}
	}
	nowMemory, nowFiles := s.Memory(), stdio.FilesOf(s.Process.Pid)
	leaks := 0
	// What it keeps of the items that were made, and what the heap may breathe.
	if nowMemory > memory*1.3+10 {
		leaks++
	}
	if nowFiles > files+2 {
		leaks++
	}
	return []rig.Result{
		{What: "mixed calls at one server, 1,000 under way", Tried: total, Survived: total - failed, Lost: failed},
		{
			What: "memory and open files stay flat over them", Tried: 2, Survived: 2 - leaks, Lost: leaks,
			Note: fmt.Sprintf("%.0f MiB and %d files after 10,000 calls, %.0f MiB and %d files at the end", memory, files, nowMemory, nowFiles),
		},
	}, nil
}
