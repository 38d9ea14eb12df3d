// Package follow notifies processes of the changes of a project in a database.
//
// A process that changes a project calls [Announcer.Changed], and a process that follows the
// project calls [Run]. Only the [State] of the project decides: Run queries and compares it, so Run
// skips no change and reports none twice. An announcement is a NOTIFY outside the transaction of
// the change. It only makes Run query the state immediately, so it may be lost, forged, or late.
//
// Poolers in transaction mode accept LISTEN and deliver nothing; replicas and some databases refuse
// it. Run detects this with its own announcement. It then polls at intervals that grow while
// nothing changes, and that differ between processes.
package follow

import (
	"context"
	"errors"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// State is what changes with each change of a project. Two states are equal if nothing changed
// in between.
type State struct {
	// Unknown means that the database did not tell.
	Unknown bool
	Project int64
	Version int64
	// Claims and Gone count the claims, and those whose holder has ended. Latest is when the
	// last of them was made, in microseconds.
	Claims, Gone, Latest int64
}

// Source is a project that can be followed.
type Source struct {
	// Look returns the state of the project.
	Look func(ctx context.Context) (State, error)
	// Connect returns a connection of its own to the database.
	Connect func(ctx context.Context) (*pgx.Conn, error)
	// Send makes an announcement on another connection, see [Send].
	Send func(ctx context.Context, payload string) error
}

// Without announcements, the state is asked for at intervals from shortest to longest. With
// them, it is asked for after sure, in case that one was lost.
const (
	shortest = 200 * time.Millisecond
	longest  = 3 * time.Second
	sure     = 20 * time.Second
)

// Run calls changed after each change of a project, until ctx ends. No change after the call
// of ready is missed. Changes that come quickly are reported once. A database that cannot be
// reached, and one that can again, are changes, too.
func Run(ctx context.Context, s Source, ready, changed func()) {
	f := &follower{Source: s, hints: make(chan struct{}, 1)}
	f.look(ctx)
	ready()
	var listening sync.WaitGroup
	listening.Go(func() { f.listen(ctx) })
	defer listening.Wait()
	wait := shortest
	for f.next(ctx, wait) {
		if f.look(ctx) {
			wait = shortest
			changed()
		} else {
			wait = min(wait*3/2, longest)
		}
	}
}

type follower struct {
	Source
	last      State
	looked    time.Time
	hints     chan struct{}
	listening atomic.Bool
	project   atomic.Int64
}

// look asks for the state and reports whether it is another one.
func (f *follower) look(ctx context.Context) bool {
	now, err := f.Look(ctx)
	if ctx.Err() != nil {
		return false
	}
	if err != nil {
		now = State{Unknown: true}
	}
	f.looked = time.Now()
	f.project.Store(now.Project)
	changed := now != f.last
	f.last = now
	return changed
}

// next waits until it is time to check the state, and returns false when ctx has ended.
func (f *follower) next(ctx context.Context, wait time.Duration) bool {
	if f.listening.Load() {
		wait = sure
	}
	timer := time.NewTimer(spread(wait))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	case <-f.hints:
	}
	return sleep(ctx, pace-time.Since(f.looked))
}

// hint makes the follower look soon.
func (f *follower) hint() {
	select {
	case f.hints <- struct{}{}:
	default:
	}
}

// spread returns a time near d, so that processes that began together do not ask together.
func spread(d time.Duration) time.Duration { return d*3/4 + rand.N(d/2+1) }

func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(max(d, 0))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return ctx.Err() == nil
	}
}

// How long it takes until a follower tries again to listen, after the connection was lost and
// where nothing can be heard.
const (
	afterLoss    = 500 * time.Millisecond
	maxAfterLoss = time.Minute
	afterDeaf    = 10 * time.Minute
)

// errDeaf reports that announcements do not arrive here.
var errDeaf = errors.New("the database delivers no announcements")

// listen waits for announcements until ctx ends.
func (f *follower) listen(ctx context.Context) {
	wait := afterLoss
	for ctx.Err() == nil {
		began := time.Now()
		err := f.hear(ctx)
		if f.listening.Swap(false) {
			f.hint() // what happened meanwhile is looked for
		}
		switch {
		case errors.Is(err, errDeaf) || isMissing(err):
			wait = afterDeaf
		case time.Since(began) > maxAfterLoss:
			wait = afterLoss
		default:
			wait = min(wait*2, maxAfterLoss)
		}
		if !sleep(ctx, spread(wait)) {
			return
		}
	}
}

// hear passes announcements on until the connection is lost.
func (f *follower) hear(ctx context.Context) error {
	conn, err := f.Connect(ctx)
	if err != nil {
		return err
	}
	defer func() {
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), sending)
		defer cancel()
		_ = conn.Close(ending)
	}()
	if err := f.tryOut(ctx, conn); err != nil {
		return err
	}
	f.listening.Store(true)
	f.hint() // what happened before is looked for
	for {
		heard, err := conn.WaitForNotification(ctx)
		if err != nil {
			return err
		}
		if heard.Payload == strconv.FormatInt(f.project.Load(), 10) {
			f.hint()
		}
	}
}

// tryOut begins to listen, and makes sure that an announcement arrives.
func (f *follower) tryOut(ctx context.Context, conn *pgx.Conn) error {
	const patience = 5 * time.Second
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	// Behind a pooler, the server's number of the connection is another one. LISTEN there
	// would stay with a session that others use.
	var process uint32
	if err := conn.QueryRow(ctx, "select pg_catalog.pg_backend_pid()").Scan(&process); err != nil {
		return err
	}
	if process != conn.PgConn().PID() {
		return errDeaf
	}
	if _, err := conn.Exec(ctx, "listen "+channel); err != nil {
		return err
	}
	mine := uuid.NewString()
	if err := f.Send(ctx, mine); err != nil {
		return err
	}
	for {
		heard, err := conn.WaitForNotification(ctx)
		switch {
		case errors.Is(ctx.Err(), context.DeadlineExceeded):
			return errDeaf
		case err != nil:
			return err
		case heard.Payload == mine:
			return nil
		}
	}
}
