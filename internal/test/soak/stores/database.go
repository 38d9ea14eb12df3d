package stores

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/copse-dev/copse/internal/test/postgrestest"
	"github.com/copse-dev/copse/internal/test/soak/rig"
	"github.com/copse-dev/copse/internal/test/stdio"
)

// commented is how many items get comments.
const commented = 5

// FailingDatabase lets servers make, comment, and claim items in one database, which crashes and
// starts again at random moments. A third of the servers is killed with SIGKILL over and over.
// Afterward the database has each acknowledged item and comment once, the numbers of items have no
// gaps, and no item was given out twice.
func FailingDatabase(r *rig.Rig) ([]rig.Result, error) {
	res := rig.Result{What: "servers that are killed with kill -9, and a database that crashes under them"}
	if postgrestest.Programs() == "" {
		res.Note = "left out: PostgreSQL is not installed; install the package postgresql"
		return []rig.Result{res}, nil
	}
	db, err := postgrestest.Run()
	if err != nil {
		return nil, err
	}
	defer db.Stop()
	name, err := db.Database(true)
	if err != nil {
		return nil, err
	}
	d := &crashing{Rig: r, env: []string{"COPSE_ITEMS=" + postgrestest.Project(db.Address(name), "shop")}, made: map[string]int{}, said: map[string]bool{}, got: map[int]int{}}
	if _, err := d.Command(r.Dir, d.env, "item", "init"); err != nil {
		return nil, err
	}
	servers := 3
	if r.Complete {
		servers = 12
	}
	for id := 1; id <= commented; id++ {
		title := fmt.Sprintf("commented %d", id)
		if _, err := d.Command(r.Dir, d.env, "item", "create", title); err != nil {
			return nil, err
		}
		d.made[title] = id
	}
	var working sync.WaitGroup
	for i := range servers {
		working.Go(func() { d.work(i, i%3 == 0) })
	}
	const minimum = 2 // crashes
	for d.crashes < minimum || r.GoOn() {
		time.Sleep(300*time.Millisecond + time.Duration(d.number(700))*time.Millisecond)
		db.End(syscall.SIGQUIT)
		if err := db.Launch(); err != nil {
			return nil, err
		}
		d.crashes++
	}
	d.end()
	working.Wait()
	if d.err == nil {
		d.err = d.compare()
	}
	res.Tried = len(d.made) + len(d.said) + len(d.got)
	res.Survived = res.Tried
	res.Note = fmt.Sprintf("%d crashes, %d servers killed, %d answers with an error; %d items, %d comments, and %d claims acknowledged, each once",
		d.crashes, d.killed, d.refused, len(d.made), len(d.said), len(d.got))
	if d.err != nil {
		res.Lost, res.Note = 1, d.err.Error()
		res.Survived--
	}
	return []rig.Result{res}, nil
}

// crashing is a database that crashes, and what its servers acknowledged.
type crashing struct {
	*rig.Rig
	env     []string
	crashes int

	mu              sync.Mutex
	ended           bool
	made            map[string]int  // the number of each item, by its title
	said            map[string]bool // comments on the first item
	got             map[int]int     // how often each item was given out
	killed, refused int
	err             error
}

// number returns a random number below n.
func (d *crashing) number(n int) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.Random.IntN(n)
}

func (d *crashing) end() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ended = true
}

// goesOn reports whether a server has something left to do.
func (d *crashing) goesOn() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return !d.ended && d.err == nil
}

// fail notes the first error that should not have been.
func (d *crashing) fail(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.err == nil {
		d.err = err
	}
}

// work starts a server and calls it, until the end. If kill is true, it kills the server after a
// while, and starts another one; these claim nothing, because others get what a dead one held.
func (d *crashing) work(who int, kill bool) {
	for n := 0; d.goesOn(); {
		s, err := stdio.SpawnWith(d.Context, d.Dir, d.env, d.Copse(), "mcp", "serve", "--toolsets", "items")
		if err != nil {
			d.fail(err)
			return
		}
		end := func() {}
		if kill {
			timer := time.AfterFunc(time.Duration(50+d.number(400))*time.Millisecond, func() { _ = s.Process.Kill() })
			end = func() { timer.Stop() }
		}
		alive := true
		for ; alive && d.goesOn(); n++ {
			alive = d.call(s, fmt.Sprintf("%d of %d.", n, who), n, kill)
		}
		end()
		s.End()
		if alive {
			continue
		}
		if !kill {
			d.fail(fmt.Errorf("server %d ended", who))
			return
		}
		d.mu.Lock()
		d.killed++
		d.mu.Unlock()
	}
}

// call makes one change, and notes it if it was acknowledged. It returns false if the server ended.
func (d *crashing) call(s *stdio.Server, what string, n int, kill bool) bool {
	tool, args := "create_item", map[string]any{"title": "item " + what}
	switch {
	case n%3 == 1:
		tool, args = "add_comment", map[string]any{"id": 1 + n%commented, "text": "comment " + what}
	case n%3 == 2 && !kill:
		tool, args = "claim_item", map[string]any{}
	}
	id, err := change(s, tool, args)
	if err != nil {
		time.Sleep(20 * time.Millisecond) // a server that has never reached the database does not wait for it
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if err != nil {
		d.refused++
		return strings.HasPrefix(err.Error(), tool+": ") // an answer, whatever it says
	}
	switch tool {
	case "create_item":
		d.made["item "+what] = id
	case "claim_item":
		d.got[id]++
	default:
		d.said["comment "+what] = true
	}
	return true
}

// compare returns an error unless the database has everything that was acknowledged, once.
func (d *crashing) compare() error {
	out, err := d.Command(d.Dir, d.env, "item", "list", "--all", "--json")
	if err != nil {
		return err
	}
	var items []struct {
		ID    int
		Title string
	}
	if err := json.Unmarshal([]byte(out), &items); err != nil {
		return err
	}
	found := map[string]int{}
	for i, it := range items {
		if it.ID != i+1 {
			return fmt.Errorf("the numbers have a gap before #%d", it.ID)
		}
		if found[it.Title] != 0 {
			return fmt.Errorf("%q was made twice", it.Title)
		}
		found[it.Title] = it.ID
	}
	for title, id := range d.made {
		if found[title] != id {
			return fmt.Errorf("%q was acknowledged as #%d, and is #%d", title, id, found[title])
		}
	}
	var comments strings.Builder
	for id := 1; id <= commented; id++ {
		shown, err := d.Command(d.Dir, d.env, "item", "show", strconv.Itoa(id), "--json")
		if err != nil {
			return err
		}
		comments.WriteString(shown)
	}
	for comment := range d.said {
		if n := strings.Count(comments.String(), fmt.Sprintf("%q", comment)); n != 1 {
			return fmt.Errorf("%q is there %d times", comment, n)
		}
	}
	for id, n := range d.got {
		if n > 1 {
			return fmt.Errorf("#%d was given out %d times", id, n)
		}
	}
	return nil
}
