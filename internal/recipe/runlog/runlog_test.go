package runlog_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/copse-dev/copse/internal/recipe/runlog"
	"github.com/copse-dev/copse/internal/recipe/running"
	"github.com/copse-dev/copse/internal/xec/family"
)

func task(id string) running.Task {
	pid := os.Getpid()
	return running.Task{ID: id, Name: "build", Started: time.Now(), Owner: family.Process{PID: pid, Start: family.Started(pid)}}
}

func redact(text string) string { return strings.ReplaceAll(text, "hunter2", "***") }

func said(text string) func() (string, int64) { return func() (string, int64) { return text, 7 } }

// Another process sees what a run prints while it runs, and how it ends.
func TestOtherProcess(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "runs")
	var text atomic.Value
	text.Store("first hunter2\n")
	run := runlog.New(dir, redact).Begin(task("aaaaaaaaaa"), func() (string, int64) { return text.Load().(string), 0 })
	other := runlog.New(dir, redact)

	got, err := other.Get(t.Context(), "aaaaaaaaaa", 0)
	if err != nil || got.State != runlog.Running || got.Output != "first ***\n" || got.Name != "build" {
		t.Fatalf("got %+v, %v", got, err)
	}
	text.Store("first\nsecond\n")
	for deadline := time.Now().Add(10 * time.Second); !strings.Contains(got.Output, "second"); time.Sleep(20 * time.Millisecond) {
		if got, err = other.Get(t.Context(), "aaaaaaaaaa", 0); err != nil || time.Now().After(deadline) {
			t.Fatalf("the output does not come: %+v, %v", got, err)
		}
	}
	ended := make(chan runlog.Report)
	go func() {
		r, _ := other.Get(context.WithoutCancel(t.Context()), "aaaaaaaaaa", time.Minute)
		ended <- r
	}()
	run.End(runlog.Outcome{State: runlog.Failed, ExitCode: 3})
	run.End(runlog.Outcome{State: runlog.Done})
	if got := <-ended; got.State != runlog.Failed || got.ExitCode != 3 || got.Output != "first\nsecond\n" {
		t.Errorf("got %+v", got)
	}
}

// A waiter in the process of the run learns the end at once, and waits no longer than it asks for.
func TestWait(t *testing.T) {
	t.Parallel()
	log := runlog.New("", nil)
	run := log.Begin(task("aaaaaaaaaa"), said("x"))
	if got, err := log.Get(t.Context(), "aaaaaaaaaa", time.Millisecond); err != nil || got.State != runlog.Running {
		t.Errorf("got %+v, %v", got, err)
	}
	go run.End(runlog.Outcome{State: runlog.Done})
	if got, err := log.Get(t.Context(), "aaaaaaaaaa", time.Minute); err != nil || got.State != runlog.Done || got.LeftOut != 7 {
		t.Errorf("got %+v, %v", got, err)
	}
}

// A run whose process was killed has ended.
func TestLost(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "runs")
	killed := task("aaaaaaaaaa")
	killed.Owner.Start = "another process with this number"
	data, err := json.Marshal(runlog.Report{Task: killed, Outcome: runlog.Outcome{State: runlog.Running}, Output: "half\n"})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "aaaaaaaaaa.json"), data, 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := runlog.New(dir, nil).Get(t.Context(), "aaaaaaaaaa", time.Minute)
	if err != nil || got.State != runlog.Lost || got.Output != "half\n" || got.Problem == "" {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestUnknown(t *testing.T) {
	t.Parallel()
	log := runlog.New(filepath.Join(t.TempDir(), "runs"), nil)
	for _, id := range []string{"", "../../etc/a", strings.Repeat("a", 1<<16), "aaaaaaaaa\x00", "bbbbbbbbbb"} {
		_, err := log.Get(t.Context(), id, time.Hour)
		if e, ok := errors.AsType[*runlog.NotFoundError](err); !ok || len(e.Error()) > 400 {
			t.Errorf("%.20q: got %v", id, err)
		}
	}
	log.Begin(task("aaaaaaaaaa"), said("")).End(runlog.Outcome{State: runlog.Done})
	if _, err := log.Get(t.Context(), "bbbbbbbbbb", 0); err == nil || !strings.Contains(err.Error(), "aaaaaaaaaa (build, done)") {
		t.Errorf("got %v", err)
	}
}

// The log is bounded. What runs stays, and so does what has just ended.
func TestBounded(t *testing.T) {
	t.Parallel()
	for _, age := range []time.Duration{0, 2 * runlog.Promised} {
		synctest.Test(t, func(t *testing.T) { bounded(t, age) }) // what runs is written again every moment, which would make its file recent
	}
}

func bounded(t *testing.T, age time.Duration) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "runs")
	log := runlog.New(dir, nil)
	stays := log.Begin(task("aaaaaaaaaa"), said("x"))
	defer stays.End(runlog.Outcome{State: runlog.Done})
	ended, err := json.Marshal(runlog.Report{Task: task("bbbbbbbbbb"), Outcome: runlog.Outcome{State: runlog.Done}})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 2 * runlog.HardMaxRuns {
		path := filepath.Join(dir, fmt.Sprintf("b%09d.json", i))
		if err := os.WriteFile(path, ended, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, time.Time{}, time.Now().Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	longAgo := time.Now().Add(-2 * runlog.Keep)
	if err := os.Chtimes(filepath.Join(dir, "aaaaaaaaaa.json"), longAgo, longAgo); err != nil {
		t.Fatal(err)
	}
	log.Begin(task("cccccccccc"), said("x")).End(runlog.Outcome{State: runlog.Done})
	want := runlog.HardMaxRuns + 1
	if age > 0 {
		want = runlog.MaxRuns + 1
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != want {
		t.Errorf("ended %s ago: %d files stay, want %d: %v", age, len(files), want, err)
	}
	for _, l := range []*runlog.Log{log, runlog.New(dir, nil)} {
		if got, err := l.Get(t.Context(), "aaaaaaaaaa", 0); err != nil || got.State != runlog.Running {
			t.Errorf("what runs is forgotten: %+v, %v", got, err)
		}
	}
}
