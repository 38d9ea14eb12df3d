package itemmove_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/changes"
	"github.com/copse-dev/copse/internal/item/claim"
	"github.com/copse-dev/copse/internal/item/local"
	"github.com/copse-dev/copse/internal/item/local/location"
	"github.com/copse-dev/copse/internal/item/postgres"
	"github.com/copse-dev/copse/internal/item/postgres/address"
	"github.com/copse-dev/copse/internal/item/postgres/connection"
	"github.com/copse-dev/copse/internal/item/storage"
	"github.com/copse-dev/copse/internal/test/postgrestest"
	"github.com/copse-dev/copse/internal/workflow/itemmove"
)

// The test program is also the move that it kills: with these variables set, it moves the items
// of a directory to a database, or back.
const (
	dirVariable = "ITEMMOVE_TEST_DIR"
	dbVariable  = "ITEMMOVE_TEST_DATABASE"
	toVariable  = "ITEMMOVE_TEST_TO"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(dirVariable); dir != "" {
		fmt.Println("moving")
		err := move(context.Background(), files(dir), database(os.Getenv(dbVariable)), os.Getenv(toVariable))
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(postgrestest.Main(m))
}

func files(dir string) *local.Store { return local.New(location.Search{Dir: dir}, time.Now) }

func database(at string) *postgres.Store {
	return postgres.New(postgres.Options{
		Database: connection.Options{Config: func() (*pgxpool.Config, error) {
			a, err := address.Parse(at)
			if err != nil {
				return nil, err
			}
			return a.Config(address.Environment{Getenv: func(string) string { return "" }, GOOS: "linux"})
		}},
		Project: func() (string, error) { return "shop", nil },
	})
}

// move moves everything to a place: "files" or "database".
func move(ctx context.Context, dir *local.Store, db *postgres.Store, to string) error {
	defer dir.Close()
	defer db.Close()
	from, target := itemmove.Endpoint{Store: dir, Name: "files"}, itemmove.Endpoint{Store: db, Name: "database"}
	if to == "files" {
		from, target = target, from
	}
	_, err := itemmove.Move(ctx, from, target)
	return err
}

// everything returns all that a store has, as text.
func everything(t *testing.T, s storage.Store) string {
	t.Helper()
	defer s.Close()
	ctx := t.Context()
	config, err := s.Config(ctx)
	if err != nil {
		t.Fatal(err)
	}
	config.Warnings = nil
	lines := []any{config}
	all, err := s.Snapshot(ctx)
	if err != nil {
		t.Fatal(err)
	}
	add := func(it any, id item.ID) {
		log, err := s.History(ctx, id)
		if err != nil {
			t.Fatal(err)
		}
		// A store finds these in the files of items; they are not part of a history.
		log = slices.DeleteFunc(log, func(c changes.Change) bool { return c.Kind == changes.Elsewhere })
		lines = append(lines, it, log)
	}
	for _, it := range all.List(config, item.Filter{All: true}) {
		whole, err := s.Item(ctx, it.ID)
		if err != nil {
			t.Fatal(err)
		}
		add(whole, it.ID)
	}
	trash, _, err := s.Deleted(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, it := range trash {
		add(it, it.ID)
	}
	var text strings.Builder
	for _, line := range lines {
		one, err := json.Marshal(line)
		if err != nil {
			t.Fatal(err)
		}
		text.Write(append(one, '\n'))
	}
	return text.String()
}

// fill makes items with all that an item can have: comments, relations, links, changes by
// several agents, and some that were deleted.
func fill(t *testing.T, s *local.Store, n int) {
	t.Helper()
	defer s.Close()
	ctx := claim.WithAgent(t.Context(), claim.Agent{Name: "ada", Worktree: "/trees/ada"})
	if _, err := s.Init(ctx); err != nil {
		t.Fatal(err)
	}
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for i := range n {
		d := item.Draft{Title: fmt.Sprintf("item %d", i), Description: strings.Repeat("text\n\n---\n", i%7), Labels: []string{"l", fmt.Sprint(i % 3)}}
		if i > 0 {
			d.Parent = 1
		}
		if i > 0 && (i-1)%11 != 5 { // that one is deleted
			d.DependsOn = []item.ID{item.ID(i)}
		}
		it, err := s.Create(ctx, d)
		check(err)
		if i%3 == 0 {
			_, err := s.AddComment(ctx, it.ID, "bob", "## A comment\n\nwith \u00fc and \t tabs")
			check(err)
			_, err = s.Update(ctx, it.ID, item.Patch{Status: new("todo"), Branch: new(fmt.Sprintf("b%d", i))})
			check(err)
		}
		if i%11 == 5 {
			check(s.Delete(ctx, it.ID, "", false))
		}
	}
}

// A move that is killed at any moment has lost nothing: repeated, it ends with everything in the
// other store, with the numbers, histories, comments and the trash, in both directions.
func TestKilledMoves(t *testing.T) {
	t.Parallel()
	server, _ := postgrestest.Shared(t)
	name, err := server.Database(true)
	if err != nil {
		t.Fatal(err)
	}
	at, dir := server.Address(name), t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, ".git"), 0o755); err != nil { // where the search for a project ends
		t.Fatal(err)
	}
	fill(t, files(dir), 60)
	all := everything(t, files(dir))

	// run moves in a process that is killed after a while, or never for 0, and returns how long
	// it took.
	run := func(to string, after time.Duration) time.Duration {
		cmd := exec.CommandContext(t.Context(), os.Args[0])
		cmd.Env = append(os.Environ(), dirVariable+"="+dir, dbVariable+"="+at, toVariable+"="+to)
		var said strings.Builder
		cmd.Stderr = &said
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
			t.Error(err)
		}
		begin := time.Now()
		if after > 0 {
			time.Sleep(after)
			_ = cmd.Process.Kill()
			_ = cmd.Wait() // it was killed, or had ended
			return after
		}
		if err := cmd.Wait(); err != nil {
			t.Fatalf("move to %s: %v: %s", to, err, said.String())
		}
		return time.Since(begin)
	}
	took := map[string]time.Duration{}
	arrived := func(to string) {
		t.Helper()
		var s storage.Store = files(dir)
		if to == "database" {
			s = database(at)
		}
		got, want := everything(t, s), all
		for len(got) > 0 && len(want) > 0 || got != want {
			one, rest, _ := strings.Cut(got, "\n")
			other, others, _ := strings.Cut(want, "\n")
			if one != other {
				t.Fatalf("the %s have\n%s\ninstead of\n%s", to, one, other)
			}
			got, want = rest, others
		}
	}
	for _, to := range []string{"database", "files"} {
		took[to] = run(to, 0)
		arrived(to)
	}
	const kills = 6
	for _, to := range []string{"database", "files"} {
		for i := range kills {
			run(to, took[to]*time.Duration(i+1)/kills)
			if states(t, dir, at) == "both change" {
				t.Fatalf("both stores accept changes after a killed move to the %s", to)
			}
			if moved(t, dir, at, to) {
				break
			}
		}
		if !moved(t, dir, at, to) {
			run(to, 0)
		}
		arrived(to)
	}
}

// moved reports whether a move is complete: the other store was left, and this one accepts
// changes.
func moved(t *testing.T, dir, at, to string) bool {
	t.Helper()
	return states(t, dir, at) == "only the "+to+" change"
}

// states describes which of the stores accept changes.
func states(t *testing.T, dir, at string) string {
	t.Helper()
	var accept []string
	for name, s := range map[string]storage.Store{"files": files(dir), "database": database(at)} {
		_, err := s.Create(t.Context(), item.Draft{Title: "x", Type: "nothing that the project has"})
		if _, asked := errors.AsType[*item.InvalidError](err); asked { // it got as far as the type
			accept = append(accept, name)
		}
		_ = s.Close()
	}
	switch len(accept) {
	case 0:
		return "none change"
	case 1:
		return "only the " + accept[0] + " change"
	}
	return "both change"
}

// However far a move came before it ended, at most one of the stores accepts changes, and the
// next move ends it with everything.
func TestInterruptedMoves(t *testing.T) {
	t.Parallel()
	server, _ := postgrestest.Shared(t)
	errKilled := errors.New("killed")
	for _, to := range []string{"database", "files"} {
		for _, far := range []string{"copied", "left"} {
			t.Run(to+" "+far, func(t *testing.T) {
				t.Parallel()
				name, err := server.Database(true)
				if err != nil {
					t.Fatal(err)
				}
				at, dir, ctx := server.Address(name), t.TempDir(), t.Context()
				if err := os.Mkdir(filepath.Join(dir, ".git"), 0o755); err != nil {
					t.Fatal(err)
				}
				fill(t, files(dir), 12)
				if to == "files" {
					if err := move(ctx, files(dir), database(at), "database"); err != nil {
						t.Fatal(err)
					}
				}
				from, target := itemmove.Endpoint{Store: files(dir), Name: "files"}, itemmove.Endpoint{Store: database(at), Name: "database"}
				before, want := "only the files change", "only the database change"
				if to == "files" {
					from, target = target, from
					before, want = want, before
				}
				all := everything(t, from.Store)
				var killed error
				if far == "copied" {
					killed = errKilled
				}
				if err := itemmove.Interrupt(ctx, from, target, killed); !errors.Is(err, killed) {
					t.Fatal(err)
				}
				switch got := states(t, dir, at); {
				case far == "copied" && got != before, far == "left" && got != "none change":
					t.Errorf("interrupted, %s", got)
				}
				if far == "copied" { // the old store is in use
					if _, err := from.Store.Create(ctx, item.Draft{Title: "in between"}); err != nil {
						t.Fatal(err)
					}
					all = everything(t, from.Store)
				}
				if err := move(ctx, files(dir), database(at), to); err != nil {
					t.Fatal(err)
				}
				if got := states(t, dir, at); got != want {
					t.Errorf("after the move, %s", got)
				}
				if got := everything(t, target.Store); got != all {
					t.Errorf("got\n%s\nwant\n%s", got, all)
				}
				_ = from.Store.Close()
				_ = target.Store.Close()
			})
		}
	}
}
