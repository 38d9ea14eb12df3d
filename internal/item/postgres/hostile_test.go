package postgres_test

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/claim"
	"github.com/copse-dev/copse/internal/item/postgres"
	"github.com/copse-dev/copse/internal/item/postgres/address"
	"github.com/copse-dev/copse/internal/item/postgres/connection"
	"github.com/copse-dev/copse/internal/item/storage"
	"github.com/copse-dev/copse/internal/test/postgrestest"
)

// A server that answers with anything at all makes a call fail with a reason, before long, and
// without reading more than its limit.
func TestHostileServer(t *testing.T) {
	t.Parallel()
	const most, buffers = 4 << 20, 32 << 20
	const password = "open sesame" // in the address as open%20sesame
	endless := func(s *postgrestest.Session, sent *atomic.Int64, m pgproto3.BackendMessage) {
		data, err := m.Encode(nil)
		for err == nil {
			_, err = s.Write(data)
			sent.Add(int64(len(data)))
		}
	}
	row := &pgproto3.RowDescription{Fields: []pgproto3.FieldDescription{{Name: []byte("version"), DataTypeOID: 20, DataTypeSize: 8}}}
	for name, tt := range map[string]struct {
		answer func(s *postgrestest.Session, sent *atomic.Int64)
		want   string // is in the error
	}{
		"nothing": {func(*postgrestest.Session, *atomic.Int64) {}, "cannot be reached"},
		"noise": {func(s *postgrestest.Session, _ *atomic.Int64) {
			_, _ = s.Write([]byte("HTTP/1.1 400 Bad Request\r\n\r\n\x00\xff\x1b[31m"))
		}, "Check that"},
		"noise as an answer": {func(s *postgrestest.Session, _ *atomic.Int64) {
			if s.Ready() == nil {
				_, _ = s.Write([]byte("\x00\x00\x00\x00\x01\x1b[31m"))
			}
		}, "an unexpected response"},
		"a message of two gigabytes": {func(s *postgrestest.Session, _ *atomic.Int64) {
			if s.Ready() == nil {
				_, _ = s.Write([]byte("D\x7f\xff\xff\xff"))
				_, _ = s.Receive()
			}
		}, "more than this program reads"},
		"endless rows": {func(s *postgrestest.Session, sent *atomic.Int64) {
			if s.Ready() == nil {
				s.Send(&pgproto3.ParseComplete{})
				s.Send(&pgproto3.BindComplete{})
				s.Send(row)
				_ = s.Flush()
				endless(s, sent, &pgproto3.DataRow{Values: [][]byte{[]byte(strings.Repeat("1", 10_000))}})
			}
		}, ""},
		"endless notices": {func(s *postgrestest.Session, sent *atomic.Int64) {
			if s.Ready() == nil {
				endless(s, sent, &pgproto3.NoticeResponse{Severity: "NOTICE", Message: strings.Repeat("x", 10_000)})
			}
		}, "more than this program reads"},
		"endless parameters": {func(s *postgrestest.Session, sent *atomic.Int64) {
			endless(s, sent, &pgproto3.ParameterStatus{Name: "x", Value: strings.Repeat("x", 10_000)})
		}, "more than this program reads"},
		"endless announcements": {func(s *postgrestest.Session, sent *atomic.Int64) {
			if s.Ready() == nil {
				endless(s, sent, &pgproto3.NotificationResponse{Channel: "copse", Payload: strings.Repeat("1", 7000)})
			}
		}, "more than this program reads"},
		"silence": {func(s *postgrestest.Session, _ *atomic.Int64) {
			if s.Ready() == nil {
				_, _ = s.Receive()
			}
		}, "did not respond within"},
		"too few columns": {func(s *postgrestest.Session, _ *atomic.Int64) {
			for s.Ready() == nil {
				s.Send(&pgproto3.ParseComplete{})
				s.Send(&pgproto3.BindComplete{})
				s.Send(&pgproto3.RowDescription{})
				s.Send(&pgproto3.DataRow{})
				s.Send(&pgproto3.CommandComplete{CommandTag: []byte("SELECT 1")})
			}
		}, "an unexpected response"},
		"the password in an error": {func(s *postgrestest.Session, _ *atomic.Int64) {
			for s.Ready() == nil {
				s.Send(&pgproto3.ErrorResponse{Severity: "ERROR", Code: "XX000", Message: "\x1b[2J\u202elook: " + s.Password + strings.Repeat(" and on", 10_000)})
			}
		}, "refused the request"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var sent atomic.Int64
			at := postgrestest.Fake(t, url.PathEscape(password), func(s *postgrestest.Session) { tt.answer(s, &sent) })
			s := postgres.New(postgres.Options{
				Database: connection.Options{Config: func() (*pgxpool.Config, error) {
					a, err := address.Parse(at)
					if err != nil {
						return nil, err
					}
					return a.Config(address.Environment{Getenv: func(string) string { return "" }, GOOS: "linux"})
				}, Patience: time.Millisecond, AnswerTime: 2 * time.Second, MaxAnswer: most},
				Project: func() (string, error) { return "shop", nil },
			})
			defer s.Close()
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			for what, call := range map[string]func() error{
				"snapshot": func() error { _, err := s.Snapshot(ctx); return err },
				"create":   func() error { _, err := s.Create(ctx, item.Draft{Title: "x"}); return err },
			} {
				err := call()
				failed, ok := errors.AsType[*storage.StoreError](err)
				if !ok || ctx.Err() != nil {
					t.Fatalf("%s: got %v", what, err)
				}
				if !strings.Contains(err.Error(), tt.want) || failed.Next == "" {
					t.Errorf("%s: got %q, want %q and what to do", what, err, tt.want)
				}
				if len(err.Error()) > 800 || strings.ContainsAny(err.Error(), "\x00\x1b\n\u202e") {
					t.Errorf("%s: the error is too long or not clean: %q", what, err)
				}
			}
			if n := sent.Load(); n > 2*most+buffers {
				t.Errorf("%d MiB were sent, although %d MiB are the limit of an answer", n>>20, most>>20)
			}
		})
	}
}

// A database that rejects every statement as a conflict does not hold up a call for as long as a
// failover takes.
func TestOnlyConflicts(t *testing.T) {
	t.Parallel()
	at := postgrestest.Fake(t, "sesame17", func(s *postgrestest.Session) {
		for s.Ready() == nil {
			s.Send(&pgproto3.ErrorResponse{Severity: "ERROR", Code: "40001", Message: "again"})
		}
	})
	s := postgres.New(postgres.Options{
		Database: connection.Options{Config: func() (*pgxpool.Config, error) { return pgxpool.ParseConfig(at) }},
		Project:  func() (string, error) { return "shop", nil },
	})
	defer s.Close()
	start := time.Now()
	_, err := s.Snapshot(t.Context())
	if took := time.Since(start); err == nil || !strings.Contains(err.Error(), "others kept changing") || took < time.Second || took > 5*time.Second {
		t.Errorf("%v after %s", err, took)
	}
}

// A server that asks for the password in clear text, and could be anyone, does not get it.
func TestNoPasswordForStrangers(t *testing.T) {
	t.Parallel()
	logins := atomic.Int64{}
	at := postgrestest.Fake(t, "sesame17", func(*postgrestest.Session) { logins.Add(1) })
	s := postgres.New(postgres.Options{
		Database: connection.Options{Config: func() (*pgxpool.Config, error) {
			a, err := address.Parse(strings.ReplaceAll(at, "require_auth=password&", ""))
			if err != nil {
				return nil, err
			}
			return a.Config(address.Environment{Getenv: func(string) string { return "" }, GOOS: "linux"})
		}, Patience: time.Millisecond, AnswerTime: 2 * time.Second},
		Project: func() (string, error) { return "shop", nil },
	})
	defer s.Close()
	_, err := s.Snapshot(t.Context())
	failed, ok := errors.AsType[*storage.StoreError](err)
	if !ok || !strings.Contains(err.Error(), "did not send the password") || !strings.Contains(failed.Next, "require_auth=password") {
		t.Errorf("got %v", err)
	}
	if logins.Load() > 0 {
		t.Error("the server got the password")
	}
}

// A server that falls silent after the login does not delay the end of a process.
func TestCloseWithSilentServer(t *testing.T) {
	t.Parallel()
	asked := make(chan struct{})
	at := postgrestest.Fake(t, "sesame17", func(s *postgrestest.Session) {
		if s.Ready() != nil {
			return
		}
		select {
		case asked <- struct{}{}:
		case <-t.Context().Done():
		}
		<-t.Context().Done()
	})
	s := postgres.New(postgres.Options{
		Database: connection.Options{Config: func() (*pgxpool.Config, error) { return pgxpool.ParseConfig(at) }},
		Project:  func() (string, error) { return "shop", nil },
	})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = s.Snapshot(ctx) // an error is right
	}()
	<-asked
	cancel()
	<-ended
	start := time.Now()
	s.Close()
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("closing took %s", took)
	}
}

// Rows that no copse wrote do no harm: items with impossible values are shown, or reported, and
// can be corrected.
func TestHostileRows(t *testing.T) {
	t.Parallel()
	server, at := postgrestest.Shared(t)
	s := makeProject(t, at, nameOf(t))
	ctx := t.Context()
	for range 3 {
		if _, err := s.Create(ctx, item.Draft{Title: "good"}); err != nil {
			t.Fatal(err)
		}
	}
	database := strings.TrimPrefix(strings.Split(at, "?")[0], "postgres://postgres@/")
	server.Exec(t, database, `
		create temp table at as select id from copse.project where name = '`+nameOf(t)+`';
		insert into copse.item (project_id, id, version, state, title, type, status, iteration, priority, assignee, labels, parent, depends_on, description, created, updated, former, former_on)
		select at.id, n.id, 0, 'live', n.title, n.kind, n.kind, n.kind, n.kind, n.kind, array[n.kind, ''], n.parent, array[n.id, n.id, 9223372036854775807, -1], n.text, n.kind, n.kind, array[0, -1], array[n.kind]
		from at, (values
			(-5::bigint, E'negative', 'x', -5::bigint, ''), (0, '', '', 0, ''), (9223372036854775807, 'the last', 'x', 1, ''),
			(10, E'\x1b[2J\u202Ea title\r\nof two lines', E'\x1b]0;x\x07', 11, 'x'), (11, '`+strings.Repeat("long ", 10_000)+`', 'y', 10, repeat('text ', 200000)),
			(12, 'its own parent', 'done', 12, E'\x10' || '9' || E'\x10')
		) as n (id, title, kind, parent, text);
		insert into copse.comment select id, 10, -1, E'\x1b[2J', 'no date', repeat('c', 1000000) from at;
		insert into copse.claim (project_id, item_id, key, agent, host, holder, since, renewed, expires)
		select at.id, n.id, '', '', '', n.holder, now(), now(), 'infinity' from at, (values (1, '{'), (2, repeat('[', 100000)), (10, '{"name": "\u001b[2J", "pid": -1}')) as n (id, holder);
		insert into copse.history select id, 1, 100, 'x', '{"kind": 7}' from at;
		insert into copse.history select id, 1, 101, 'x', repeat('[', 100000) from at;
		update copse.project set version = version + 1, types = array[E'\x1b', ''], current_iteration = E'\x1b' from at where project.id = at.id;
		update copse.item set version = project.version from copse.project, at where project.id = at.id and project_id = at.id;`)
	all, err := s.Snapshot(ctx)
	if err != nil {
		t.Fatal(err)
	}
	config, err := s.Config(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, it := range all.List(config, item.Filter{All: true}) {
		_ = all.Children(it.ID)
		_ = all.Dependents(it.ID)
		if _, err := s.Item(ctx, it.ID); err != nil {
			t.Errorf("item %d: %v", it.ID, err)
		}
		if _, err := s.History(ctx, it.ID); err != nil {
			t.Errorf("history %d: %v", it.ID, err)
		}
	}
	found, err := s.Check(ctx)
	if err != nil || len(found) < 6 {
		t.Errorf("%d problems are reported: %v", len(found), err)
	}
	for _, w := range found {
		if text := w.File + w.Reason; strings.ContainsAny(text, "\x1b\n\u202e") || len(text) > 1000 {
			t.Errorf("a warning is not clean: %.200q", text)
		}
	}
	for _, id := range []item.ID{10, 11, 12} {
		if _, err := s.Update(ctx, id, item.Patch{Parent: new(item.ID(0)), DependsOn: &[]item.ID{}, Status: new("todo"), Type: new("task")}); err == nil {
			continue
		} else if _, invalid := errors.AsType[*item.InvalidError](err); !invalid {
			t.Errorf("correct item %d: %v", id, err)
		}
	}
	if err := s.SetValues(ctx, "types", []string{"task"}); err != nil {
		t.Error(err)
	}
	if got, err := s.Claim(claim.WithAgent(ctx, claim.Agent{Name: "ada"}), storage.ClaimRequest{}); err != nil {
		t.Error(err)
	} else if got.Item.ID < 1 {
		t.Errorf("item %d was given away", got.Item.ID)
	}
}
