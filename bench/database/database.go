// Package database measures work items in a PostgreSQL server on this machine.
package database

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/copse-dev/copse/bench/fixture"
	"github.com/copse-dev/copse/bench/measure"
	"github.com/copse-dev/copse/bench/report"
	"github.com/copse-dev/copse/internal/test/postgrestest"
	"github.com/copse-dev/copse/internal/test/stdio"
)

// Budgets of work items in a database, and how many servers use one at the same time.
const (
	databaseItems = 10 * time.Millisecond
	claimers      = 64
	claimsOfOne   = 4   // items that each of them holds at most
	leastClaims   = 500 // a second, of all claimers together
	followers     = 50
	visible       = 100 * time.Millisecond
)

// Measure measures 10,000 items in a PostgreSQL server on this machine, which writes each
// change to the disk.
func Measure(ctx context.Context, work string, copse []string, rounds int) ([]report.Row, error) {
	if postgrestest.Programs() == "" {
		return []report.Row{report.LeftOut("database", "PostgreSQL is not installed")}, nil
	}
	server, err := postgrestest.Run("fsync=on", "max_connections=300")
	if err != nil {
		return nil, err
	}
	defer server.Stop()
	name, err := server.Database(true)
	if err != nil {
		return nil, err
	}
	d := &database{ctx: ctx, dir: filepath.Join(work, "items-database"), plain: server.Address(name), at: postgrestest.Project(server.Address(name), "shop"), copse: copse, rounds: rounds}
	if err := fixture.Items(d.dir, 10_000); err != nil {
		return nil, err
	}
	var rows []report.Row
	for _, measure := range []func() ([]report.Row, error){d.move, d.calls, d.claims, d.follow} {
		more, err := measure()
		if err != nil {
			return nil, err
		}
		rows = append(rows, more...)
	}
	return rows, nil
}

// database is a database with items that servers use.
type database struct {
	ctx    context.Context
	dir    string // where the servers run
	plain  string // its address
	at     string // with the project
	copse  []string
	rounds int
}

func (d *database) spawn() (*stdio.Server, error) {
	return stdio.SpawnWith(d.ctx, d.dir, []string{"COPSE_ITEMS=" + d.at}, d.copse...)
}

// spawnAll starts servers, each with one call behind it.
func (d *database) spawnAll(n int) ([]*stdio.Server, error) {
	var all []*stdio.Server
	for range n {
		s, err := d.spawn()
		if err == nil {
			all = append(all, s)
			_, _, err = s.Call("list_items", "{}")
		}
		if err != nil {
			endAll(all)
			return nil, err
		}
	}
	return all, nil
}

func endAll(all []*stdio.Server) {
	for _, s := range all {
		s.End()
	}
}

// move measures the way of all items into the database.
func (d *database) move() ([]report.Row, error) {
	begin := time.Now()
	cmd := exec.CommandContext(d.ctx, d.copse[0], "item", "move", "--to", d.at)
	cmd.Dir = d.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("item move: %w: %s", err, out)
	}
	return []report.Row{{What: "PostgreSQL: item move of 10,000 items", Unit: "s", Value: time.Since(begin).Seconds(), Within: true}}, nil
}

// calls measures one server.
func (d *database) calls() ([]report.Row, error) {
	s, err := d.spawn()
	if err != nil {
		return nil, err
	}
	defer s.End()
	first, _, err := s.Call("list_items", `{"all":true}`)
	if err != nil {
		return nil, err
	}
	const name = "PostgreSQL, 10,000 items: "
	rows := []report.Row{{What: name + "first list after start", Unit: "ms", Value: report.Milliseconds(first), Within: true}}
	for _, c := range []struct {
		what, tool string
		args       func(i int) string
	}{
		{"filtered list, warm", "list_items", measure.Always(`{"all":true,"status":"todo","label":"two"}`)},
		{"search for something else each time", "search_items", measure.OtherWords},
		{"tree, warm", "get_item_tree", measure.Always(`{"all":true}`)},
		{"show_item", "show_item", measure.Always(`{"id":3}`)},
	} {
		took, err := measure.Repeat(s, d.rounds, c.tool, c.args)
		if err != nil {
			return nil, err
		}
		rows = append(rows, report.Limit(name+c.what, "ms", report.Milliseconds(took), report.Milliseconds(databaseItems)))
	}
	took, err := measure.Repeat(s, d.rounds, "create_item", func(i int) string { return fmt.Sprintf(`{"title":"new %d"}`, i) })
	return append(rows, report.Row{What: name + "create", Unit: "ms", Value: report.Milliseconds(took), Within: true}), err
}

// claims measures how many claims of the best item many servers make together. An agent holds few
// items, so all of them claim a few, and give them back before the next round.
func (d *database) claims() ([]report.Row, error) {
	all, err := d.spawnAll(claimers)
	if err != nil {
		return nil, err
	}
	defer endAll(all)
	var claiming, releasing time.Duration
	var made, spent atomic.Int64 // spent is the time in calls that claim
	held := make([][]int, len(all))
	for claiming < d.window() {
		took, err := concurrently(all, func(i int, s *stdio.Server) error {
			for range claimsOfOne {
				took, answer, err := s.Call("claim_item", "{}")
				if err != nil {
					return err
				}
				id, err := claimed(answer)
				if err != nil {
					return err
				}
				held[i] = append(held[i], id)
				made.Add(1)
				spent.Add(int64(took))
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		claiming += took
		took, err = concurrently(all, func(i int, s *stdio.Server) error {
			for _, id := range held[i] {
				if _, _, err := s.Call("release_item", fmt.Sprintf(`{"id":%d}`, id)); err != nil {
					return err
				}
			}
			held[i] = nil
			return nil
		})
		if err != nil {
			return nil, err
		}
		releasing += took
	}
	n := float64(made.Load())
	name := fmt.Sprintf("PostgreSQL: claims by %d servers", claimers)
	return []report.Row{
		report.AtLeast(name, "a second", n/claiming.Seconds(), leastClaims),
		{What: name + ", with the time of their releases", Unit: "a second", Value: n / (claiming + releasing).Seconds(), Within: true},
		{What: "PostgreSQL: one of these claims", Unit: "ms", Value: float64(spent.Load()) / n / float64(time.Millisecond), Within: true},
	}, nil
}

// concurrently calls do for all servers at the same time, and returns how long all of it took.
func concurrently(all []*stdio.Server, do func(i int, s *stdio.Server) error) (time.Duration, error) {
	var group sync.WaitGroup
	failed := make([]error, len(all))
	begin := time.Now()
	for i, s := range all {
		group.Go(func() { failed[i] = do(i, s) })
	}
	group.Wait()
	return time.Since(begin), errors.Join(failed...)
}

// claimed returns the number of the item that an answer gives away.
func claimed(answer []byte) (int, error) {
	var r struct {
		Result struct{ StructuredContent struct{ ID int } }
	}
	err := json.Unmarshal(answer, &r)
	if err == nil && r.Result.StructuredContent.ID == 0 {
		err = fmt.Errorf("no item in %s", answer)
	}
	return r.Result.StructuredContent.ID, err
}

// window is how long something is counted.
func (d *database) window() time.Duration {
	return min(time.Duration(d.rounds)*100*time.Millisecond, 5*time.Second)
}

// follow measures when servers whose clients subscribed to the list of items learn of a change
// by another server, and what following costs the database.
func (d *database) follow() ([]report.Row, error) {
	all, err := d.spawnAll(followers)
	if err != nil {
		return nil, err
	}
	defer endAll(all)
	writer, err := d.spawn()
	if err != nil {
		return nil, err
	}
	defer writer.End()
	for _, s := range all {
		if _, err := s.Request("resources/subscribe", `{"uri":"tic://items"}`); err != nil {
			return nil, err
		}
	}
	time.Sleep(time.Second) // all of them listen
	idle, err := d.transactions(func() error { time.Sleep(d.window()); return nil })
	if err != nil {
		return nil, err
	}

	var late []time.Duration
	var mu sync.Mutex
	changes := max(d.rounds/2, 5)
	change := func(i int) error {
		var group sync.WaitGroup
		var acknowledged atomic.Pointer[time.Time]
		failed := make(chan error, len(all))
		for _, s := range all {
			group.Go(func() {
				if err := s.Notified("notifications/resources/updated"); err != nil {
					failed <- err
					return
				}
				now := time.Now()
				for acknowledged.Load() == nil { // it was faster than the answer
					time.Sleep(100 * time.Microsecond)
				}
				mu.Lock()
				defer mu.Unlock()
				late = append(late, max(now.Sub(*acknowledged.Load()), 0))
			})
		}
		_, _, err := writer.Call("update_item", fmt.Sprintf(`{"id":%d,"title":"changed %d"}`, i+1, i))
		now := time.Now()
		acknowledged.Store(&now)
		if err != nil {
			return err
		}
		group.Wait()
		close(failed)
		return <-failed
	}
	busy, err := d.transactions(func() error {
		for i := range changes {
			if err := change(i); err != nil {
				return err
			}
			time.Sleep(100 * time.Millisecond)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.Sort(late)
	name := fmt.Sprintf("PostgreSQL, %d servers follow: ", followers)
	perChange := (busy.count - idle.count/idle.took.Seconds()*busy.took.Seconds()) / float64(changes) / followers
	return []report.Row{
		report.Limit(name+"a change is visible after (median)", "ms", report.Milliseconds(late[len(late)/2]), report.Milliseconds(visible)),
		{What: name + "a change is visible after (p99)", Unit: "ms", Value: report.Milliseconds(late[len(late)*99/100]), Within: true},
		{What: name + "transactions a second of each server, idle", Unit: "a second", Value: idle.count / idle.took.Seconds() / followers, Within: true},
		{What: name + "transactions of each server for a change", Unit: "a change", Value: perChange, Within: true},
	}, nil
}

// transactions are how many a database made in a time.
type transactions struct {
	count float64
	took  time.Duration
}

// transactions counts the transactions of the database while do runs.
func (d *database) transactions(do func() error) (t transactions, err error) {
	conn, err := pgx.Connect(d.ctx, d.plain)
	if err != nil {
		return t, err
	}
	defer func() { err = errors.Join(err, conn.Close(context.WithoutCancel(d.ctx))) }()
	count := func() (n float64, err error) {
		time.Sleep(1200 * time.Millisecond) // sessions report once a second
		err = conn.QueryRow(d.ctx, "select (xact_commit + xact_rollback)::float8 from pg_stat_database where datname = current_database()").Scan(&n)
		return n, err
	}
	before, err := count()
	if err != nil {
		return t, err
	}
	begin := time.Now()
	if err := do(); err != nil {
		return t, err
	}
	after, err := count()
	return transactions{after - before, time.Since(begin)}, err
}
