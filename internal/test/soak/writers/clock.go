package writers

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/local"
	"github.com/copse-dev/copse/internal/item/local/location"
	"github.com/copse-dev/copse/internal/test/soak/rig"
	"github.com/copse-dev/copse/internal/test/stdio"
)

// ClockGoesBack changes files in the past and in the future, of the same size each time, and
// expects the next call to see it; and works on a store with a clock that jumps.
func ClockGoesBack(r *rig.Rig) ([]rig.Result, error) {
	dir, err := r.Repository("clock")
	if err != nil {
		return nil, err
	}
	s, err := stdio.Spawn(r.Context, dir, r.Copse(), "mcp", "serve")
	if err != nil {
		return nil, err
	}
	defer s.End()
	seen := rig.Result{What: "files that change while the clock goes back and forth"}
	path := filepath.Join(dir, ".tic", "items", "1.md")
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	state := filepath.Join(dir, ".twig", "state.json")
	stateText, err := os.ReadFile(state)
	if err != nil {
		return nil, err
	}
	for n := 0; n < 50 || r.GoOn() && n < 5000; n++ {
		when := time.Now().Add(time.Duration(r.Random.Int64N(int64(48*time.Hour))) - 24*time.Hour)
		word := fmt.Sprintf("Title %04d", n)
		if err := rewrite(path, strings.Replace(string(text), "First", word, 1), when); err != nil {
			return nil, err
		}
		// A file's name must be one that the state knows.
		branch := fmt.Sprintf("topic/%04d", n)
		if err := rewrite(state, strings.ReplaceAll(string(stateText), "feature/a", branch), when); err != nil {
			return nil, err
		}
		for _, ask := range []struct{ params, want string }{
			{`{"name":"show_item","arguments":{"id":1}}`, word}, {`{"name":"list_branches","arguments":{}}`, branch},
		} {
			seen.Tried++
			line, err := s.Request("tools/call", ask.params)
			if err != nil {
				return nil, err
			}
			if strings.Contains(string(line), ask.want) {
				seen.Survived++
			} else {
				seen.Lost++
				seen.Note = fmt.Sprintf("%s is not in %.200s", ask.want, line)
			}
		}
	}
	jumps, err := jumpingClock(r)
	return []rig.Result{seen, jumps}, err
}

// rewrite replaces a file and gives it a time.
func rewrite(path, text string, when time.Time) error {
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		return err
	}
	return os.Chtimes(path, when, when)
}

// jumpingClock works on a store whose clock jumps by hours in both directions.
func jumpingClock(r *rig.Rig) (rig.Result, error) {
	res := rig.Result{What: "work items under a clock that jumps"}
	dir := filepath.Join(r.Dir, "jumps")
	if err := os.Mkdir(dir, 0o755); err != nil {
		return res, err
	}
	clock := func() time.Time {
		return time.Now().Add(time.Duration(r.Random.Int64N(int64(6*time.Hour))) - 3*time.Hour)
	}
	store := local.New(location.Search{Dir: dir}, clock)
	defer store.Close()
	ctx := context.Background()
	if _, err := store.Init(ctx); err != nil {
		return res, err
	}
	ids := make(map[item.ID]bool)
	for range 100 {
		res.Tried++
		it, err := store.Create(ctx, item.Draft{Title: "One more"})
		if err != nil || ids[it.ID] {
			res.Lost++
			res.Note = fmt.Sprintf("item %d: %v", it.ID, err)
			continue
		}
		ids[it.ID] = true
		if _, err := store.Item(ctx, it.ID); err != nil {
			res.Lost++
			res.Note = err.Error()
			continue
		}
		res.Survived++
	}
	return res, nil
}
