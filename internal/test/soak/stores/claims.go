package stores

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/copse-dev/copse/internal/test/soak/rig"
	"github.com/copse-dev/copse/internal/test/stdio"
)

// ManyClaimers lets servers in two worktrees claim the items of one list. A third of them is
// killed with SIGKILL on the way. Each item is given out once, and what the killed held is not
// given to others at once.
func ManyClaimers(r *rig.Rig) ([]rig.Result, error) {
	c := &claiming{Rig: r, servers: 64, items: 1000, got: make(map[int]int)}
	if !r.Complete {
		c.servers, c.items = 8, 80
	}
	if err := c.prepare(); err != nil {
		return nil, err
	}
	begin := time.Now()
	var working sync.WaitGroup
	for i := range c.servers {
		s, err := stdio.Spawn(r.Context, c.trees[i%len(c.trees)], r.Copse(), "mcp", "serve", "--toolsets", "items")
		if err != nil {
			return nil, err
		}
		defer s.End()
		working.Go(func() { c.claim(s, i%3 == 0) })
	}
	working.Wait()
	res := rig.Result{What: fmt.Sprintf("%d servers in two worktrees that claim the items of one list, a third of them killed with kill -9", c.servers)}
	took := time.Since(begin)
	held, err := c.held()
	if err != nil {
		return nil, err
	}
	res.Tried = c.items
	for id := 1; id <= c.items; id++ {
		switch {
		case c.got[id] > 1:
			res.Lost++
			res.Note = fmt.Sprintf("#%d was given out %d times", id, c.got[id])
		case !held[id]:
			res.Lost++
			res.Note = fmt.Sprintf("nobody holds #%d", id)
		default:
			res.Survived++
		}
	}
	if c.err != nil {
		res.Lost++
		res.Note = c.err.Error()
	}
	if res.Note == "" {
		res.Note = fmt.Sprintf("each item once, in %s; %d servers killed", took.Round(100*time.Millisecond), c.killed)
	}
	return []rig.Result{res}, nil
}

// claiming is two worktrees of a repository, each with the items of one list.
type claiming struct {
	*rig.Rig
	servers, items int
	trees          []string

	mu     sync.Mutex
	got    map[int]int // how often each item was given out
	killed int
	err    error
}

func (c *claiming) prepare() error {
	main, other := filepath.Join(c.Dir, "main"), filepath.Join(c.Dir, "other")
	c.trees = []string{main, other}
	for _, args := range [][]string{
		{"init", "-q", "-b", "main", main},
		{"-C", main, "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "--allow-empty", "-m", "start"},
	} {
		if out, err := exec.CommandContext(c.Context, "git", args...).CombinedOutput(); err != nil {
			return fmt.Errorf("git %v: %w: %s", args, err, out)
		}
	}
	if _, err := c.Command(main, nil, "item", "init"); err != nil {
		return err
	}
	s, err := stdio.Spawn(c.Context, main, c.Copse(), "mcp", "serve", "--toolsets", "items")
	if err != nil {
		return err
	}
	defer s.End()
	for id := 1; id <= c.items; id++ {
		if _, err := change(s, "create_item", map[string]any{"title": fmt.Sprintf("item %d", id)}); err != nil {
			return err
		}
	}
	// The other worktree has the same items in its own tree.
	for _, args := range [][]string{
		{"-C", main, "add", "-A"},
		{"-C", main, "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "-m", "items"},
		{"-C", main, "worktree", "add", "-q", "-b", "other", other},
	} {
		if out, err := exec.CommandContext(c.Context, "git", args...).CombinedOutput(); err != nil {
			return fmt.Errorf("git %v: %w: %s", args, err, out)
		}
	}
	return nil
}

// claim claims items until none is left, or until the server is killed after a few.
func (c *claiming) claim(s *stdio.Server, kill bool) {
	const before = 3
	for n := 0; ; n++ {
		if kill && n == before {
			c.mu.Lock()
			c.killed++
			wait := time.Duration(c.Random.Int64N(int64(20 * time.Millisecond)))
			c.mu.Unlock()
			time.AfterFunc(wait, func() { _ = s.Process.Kill() })
		}
		id, err := change(s, "claim_item", map[string]any{})
		switch {
		case err == nil:
		case strings.Contains(err.Error(), "No ready work item is free"):
			return
		case strings.Contains(err.Error(), "try again"):
			continue // a slow machine, and nothing was changed
		case kill && n >= before:
			return // it was killed
		default:
			c.mu.Lock()
			c.err = err
			c.mu.Unlock()
			return
		}
		c.mu.Lock()
		c.got[id]++
		c.mu.Unlock()
	}
}

// held returns which items somebody holds.
func (c *claiming) held() (map[int]bool, error) {
	out, err := c.Command(c.trees[0], nil, "item", "list", "--all", "--json")
	if err != nil {
		return nil, err
	}
	var items []struct {
		ID      int
		Claimed string
	}
	if err := json.Unmarshal([]byte(out), &items); err != nil {
		return nil, err
	}
	held := make(map[int]bool)
	for _, it := range items {
		held[it.ID] = it.Claimed != ""
	}
	return held, nil
}
