package follow

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

const (
	// channel is the name that announcements have in a database.
	channel = "copse"
	// pace is how much time is between two announcements of a process, and between two looks
	// of a follower.
	pace = 40 * time.Millisecond
	// busy is how many times as long as an announcement took no other one follows.
	busy = 5
	// sending is how long an announcement may take.
	sending = time.Second
)

// Announcer announces changes to the followers of a project. A change waits for no
// announcement: they are made by a goroutine, outside the transaction that changed, and
// changes that come quickly share one. It is safe for concurrent use.
type Announcer struct {
	send func(ctx context.Context, payload string) error

	mu  sync.Mutex
	due int64 // the project that changed, 0 for none
	run *announcing
	off bool // the database has no announcements
}

// announcing is a goroutine that announces.
type announcing struct {
	hurry func()
	late  chan struct{} // closed by hurry
	ended chan struct{}
}

// NewAnnouncer returns an announcer. send makes an announcement, see [Send].
func NewAnnouncer(send func(ctx context.Context, payload string) error) *Announcer {
	return &Announcer{send: send}
}

// Send sends an announcement. It does not wait until the disk has it: a server that crashes has
// nobody left to tell, and announcements take turns until they are committed. Both statements are
// one message, and thus one transaction. The payload has no quotes.
func Send(ctx context.Context, db Executor, payload string) error {
	if strings.ContainsAny(payload, "'\\") {
		return errors.New("the announcement has quotes")
	}
	_, err := db.Exec(ctx, "set local synchronous_commit = off; select pg_catalog.pg_notify('"+channel+"', '"+payload+"')")
	return err
}

// Executor is what an announcement is made by: a connection or a pool.
type Executor interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
}

// Changed announces that a project changed, now or soon.
func (a *Announcer) Changed(project int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.off {
		return
	}
	a.due = project
	if a.run == nil {
		late := make(chan struct{})
		a.run = &announcing{hurry: sync.OnceFunc(func() { close(late) }), late: late, ended: make(chan struct{})}
		go a.announce(a.run)
	}
}

// announce makes announcements until none is due.
func (a *Announcer) announce(r *announcing) {
	defer close(r.ended)
	for {
		a.mu.Lock()
		project := a.due
		if a.due = 0; project == 0 || a.off {
			a.run = nil
			a.mu.Unlock()
			return
		}
		a.mu.Unlock()
		begin := time.Now()
		ctx, cancel := context.WithTimeout(context.Background(), sending)
		err := a.send(ctx, strconv.FormatInt(project, 10))
		cancel()
		if isMissing(err) {
			a.mu.Lock()
			a.off = true
			a.mu.Unlock()
		}
		select {
		case <-time.After(max(pace, busy*time.Since(begin))): // many announce, so each waits for the others
		case <-r.late:
		}
	}
}

// Flush waits until everything is announced, for a short time.
func (a *Announcer) Flush() {
	a.mu.Lock()
	run := a.run
	a.mu.Unlock()
	if run == nil {
		return
	}
	run.hurry()
	select {
	case <-run.ended:
	case <-time.After(sending):
	}
}

// isMissing reports whether a database has no announcements: it does not know the statement,
// or is a replica.
func isMissing(err error) bool {
	answer, ok := errors.AsType[*pgconn.PgError](err)
	if !ok {
		return false
	}
	switch answer.Code {
	case "42883", "42601", "0A000", "25006": // no such function, syntax, not supported, only reads
		return true
	}
	return false
}
