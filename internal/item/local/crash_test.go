package local_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/local"
	"github.com/copse-dev/copse/internal/item/local/location"
	"github.com/copse-dev/copse/internal/lockedstore"
)

// The test program is also the writers that it kills: with writerVariable set, it changes the store
// of that directory until it is killed.
const writerVariable = "ITEM_LOCAL_TEST_WRITER"

func TestMain(m *testing.M) {
	if dir := os.Getenv(writerVariable); dir != "" {
		writeUntilKilled(dir)
		return
	}
	if dir := os.Getenv(claimerVariable); dir != "" {
		claimUntilKilled(dir)
		return
	}
	os.Exit(m.Run())
}

// roundsVariable is how often each writer of TestKilledWriters is killed. The
// default is for every day; 500 takes some minutes.
const roundsVariable = "COPSE_TEST_CRASH_ROUNDS"

const (
	writers       = 8
	everydayRound = 8
)

// writeUntilKilled says on stdout what it is about to do, and what is done, each
// in one write.
func writeUntilKilled(dir string) {
	ctx := context.Background()
	s := local.New(location.Search{Dir: dir}, time.Now)
	say := func(format string, args ...any) {
		if _, err := os.Stdout.WriteString(fmt.Sprintf(format, args...) + "\n"); err != nil {
			os.Exit(1)
		}
	}
	// A lock that is busy for too long, as on a machine with more to do, is not
	// what this is about.
	do := func(change func() error) {
		err := change()
		for busy := (*lockedstore.BusyError)(nil); errors.As(err, &busy); {
			err = change()
		}
		if err != nil {
			say("error %v", err)
			os.Exit(1)
		}
	}
	create := func(d item.Draft) (it item.Item) {
		say("do create")
		do(func() (err error) {
			it, err = s.Create(ctx, d)
			return err
		})
		say("ok create %d %d", it.ID, d.Parent)
		return it
	}
	for n := 0; ; n++ {
		top := create(item.Draft{Title: "top"})
		child := create(item.Draft{Title: "child", Parent: top.ID, DependsOn: []item.ID{top.ID}})
		for i := range 2 {
			for field, p := range map[string]item.Patch{
				"title":    {Title: new(strconv.Itoa(i))},
				"assignee": {Assignee: new(strconv.Itoa(i))},
			} {
				say("do %s %d %d", field, child.ID, i)
				do(func() error { _, err := s.Update(ctx, child.ID, p); return err })
				say("ok %s %d %d", field, child.ID, i)
			}
		}
		text := fmt.Sprintf("comment %d-%d", os.Getpid(), n)
		do(func() error { _, err := s.AddComment(ctx, 1, "w", text); return err })
		say("ok comment %s", text)
		say("do delete %d", top.ID)
		do(func() error { return s.Delete(ctx, top.ID, "", false) })
		say("ok delete %d", top.ID)
		if n%2 == 0 {
			say("do restore %d", top.ID)
			do(func() error { _, err := s.Restore(ctx, top.ID); return err })
			say("ok restore %d", top.ID)
		}
	}
}

// account is what writers have said.
type account struct {
	mu       sync.Mutex
	problems []string
	parents  map[item.ID]item.ID // of created items
	values   map[string]int      // "title 7" -> the last acknowledged value
	tried    map[string]int      // the last value that was begun
	comments []string
	state    map[item.ID]string // "deleted" or "restored", with "?" if begun only
}

func newAccount() *account {
	return &account{parents: map[item.ID]item.ID{}, values: map[string]int{}, tried: map[string]int{}, state: map[item.ID]string{}}
}

func (a *account) note(line string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	words := strings.Fields(line)
	number := func(i int) int {
		n, err := strconv.Atoi(words[i])
		if err != nil {
			a.problems = append(a.problems, "cannot read "+line)
		}
		return n
	}
	switch strings.Join(words[:min(2, len(words))], " ") {
	case "do create":
	case "ok create":
		id := item.ID(number(2))
		if _, ok := a.parents[id]; ok {
			a.problems = append(a.problems, fmt.Sprintf("number %d was given twice", id))
		}
		a.parents[id] = item.ID(number(3))
	case "do title", "do assignee":
		a.tried[words[1]+" "+words[2]] = number(3)
	case "ok title", "ok assignee":
		a.values[words[1]+" "+words[2]] = number(3)
	case "ok comment":
		a.comments = append(a.comments, strings.TrimPrefix(line, "ok comment "))
	case "do delete", "do restore":
		a.state[item.ID(number(2))] += "?"
	case "ok delete", "ok restore":
		a.state[item.ID(number(2))] = words[1] + "d"
	default:
		a.problems = append(a.problems, line)
	}
}

// Writers are killed at random moments. What they have acknowledged is there,
// no number was given twice, and readers have never seen anything broken.
func TestKilledWriters(t *testing.T) {
	t.Parallel()
	rounds := everydayRound
	if n, err := strconv.Atoi(os.Getenv(roundsVariable)); err == nil {
		rounds = n
	} else if testing.Short() {
		rounds = 1
	}
	dir := project(t)
	if _, err := open(t, dir, true).Create(t.Context(), item.Draft{Title: "for comments"}); err != nil {
		t.Fatal(err)
	}
	a := newAccount()
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		readUntil(t, stop, dir)
	}()
	var group sync.WaitGroup
	for range writers {
		group.Go(func() {
			for range rounds {
				killOne(t, dir, a)
			}
		})
	}
	group.Wait()
	close(stop)
	<-stopped
	verify(t, dir, a)
}

// killOne starts a writer and kills it when it has said some number of lines.
func killOne(t *testing.T, dir string, a *account) {
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), writerVariable+"="+dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Error(err)
		return
	}
	if err := cmd.Start(); err != nil {
		t.Error(err)
		return
	}
	lines := bufio.NewReader(out)
	left, pause := 1+rand.IntN(40), rand.N(4*time.Millisecond) // into the middle of what comes after the last line
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			break // the last line can be a part of one, and does not count
		}
		a.note(strings.TrimSuffix(line, "\n"))
		if left--; left == 0 {
			time.AfterFunc(pause, func() { _ = cmd.Process.Kill() })
		}
	}
	_ = cmd.Wait()
}

func readUntil(t *testing.T, stop chan struct{}, dir string) {
	s := local.New(location.Search{Dir: dir}, time.Now)
	defer s.Close()
	for {
		select {
		case <-stop:
			return
		default:
		}
		snapshot, err := s.Snapshot(t.Context())
		if err != nil {
			t.Error(err)
			return
		}
		if len(snapshot.Warnings) > 0 {
			t.Errorf("a reader sees %v", snapshot.Warnings)
			return
		}
		if _, err := s.Config(t.Context()); err != nil {
			t.Error(err)
			return
		}
	}
}

func verify(t *testing.T, dir string, a *account) {
	s := open(t, dir, true)
	// One more change finishes what the last killed writer has begun.
	last, err := s.Create(t.Context(), item.Draft{Title: "last"})
	if err != nil {
		t.Fatal(err)
	}
	found, err := s.Check(t.Context())
	if err != nil || len(found) > 0 {
		t.Errorf("the store has %v, %v", found, err)
	}
	for _, problem := range a.problems {
		t.Error(problem)
	}
	for id, parent := range a.parents {
		if id >= last.ID {
			t.Errorf("number %d came after %d", last.ID, id)
		}
		a.verifyItem(t, dir, s, id, parent)
	}
	for key, value := range a.values {
		a.verifyValue(t, s, key, value)
	}
	it, err := s.Item(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for _, c := range it.Comments {
		seen[c.Body]++
	}
	for _, text := range a.comments {
		if seen[text] != 1 {
			t.Errorf("%s is there %d times", text, seen[text])
		}
	}
	verifyFiles(t, dir)
	t.Logf("%d items, %d values and %d comments were acknowledged", len(a.parents), len(a.values), len(a.comments))
}

// verifyItem checks that an item is where it was put last, and its relations.
func (a *account) verifyItem(t *testing.T, dir string, s *local.Store, id, parent item.ID) {
	it, err := s.Item(t.Context(), id)
	_, trashErr := os.Stat(path(dir, fmt.Sprintf("trash/%d.md", id)))
	live, trashed := err == nil, trashErr == nil
	switch state := a.state[id]; {
	case live == trashed:
		t.Errorf("item %d: there %v, in the trash %v", id, live, trashed)
	case (state == "" || state == "restored") && !live, state == "deleted" && live:
		t.Errorf("item %d: there %v, but it was %q", id, live, state)
	}
	if !live || parent == 0 {
		return
	}
	_, parentErr := s.Item(t.Context(), parent)
	wantParent, wantDependencies := parent, 1
	if parentErr != nil {
		wantParent, wantDependencies = 0, 0
	}
	if it.Parent != wantParent || len(it.DependsOn) != wantDependencies {
		t.Errorf("item %d is below %d and depends on %v, want %d", id, it.Parent, it.DependsOn, wantParent)
	}
}

// verifyValue checks that a field has the acknowledged value, or the one after.
func (a *account) verifyValue(t *testing.T, s *local.Store, key string, value int) {
	field, number, _ := strings.Cut(key, " ")
	id, err := item.ParseID(number)
	if err != nil {
		t.Error(err)
		return
	}
	it, err := s.Item(t.Context(), id)
	if err != nil {
		t.Error(err)
		return
	}
	text := it.Title
	if field == "assignee" {
		text = it.Assignee
	}
	if got, err := strconv.Atoi(text); err != nil || got < value || got > a.tried[key] {
		t.Errorf("%s is %q, but %d was acknowledged and %d tried", key, text, value, a.tried[key])
	}
}

// verifyFiles checks that the directories that tic sees have nothing strange.
func verifyFiles(t *testing.T, dir string) {
	named := regexp.MustCompile(`^(items|trash)/[1-9][0-9]*\.md$`)
	for _, directory := range []string{"items", "trash"} {
		listed, err := os.ReadDir(path(dir, directory))
		if err != nil && !os.IsNotExist(err) {
			t.Error(err)
		}
		for _, d := range listed {
			if name := directory + "/" + d.Name(); !named.MatchString(name) {
				t.Errorf("left: %s", name)
			}
		}
	}
	if _, err := os.Stat(filepath.Join(path(dir, ".copse"), "pending.json")); err == nil {
		t.Error("something is pending")
	}
}
