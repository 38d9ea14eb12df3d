package running_test

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/copse-dev/copse/internal/recipe/running"
	"github.com/copse-dev/copse/internal/xec/family"
)

// sleeper returns a process that has no part in a task.
func sleeper(t *testing.T) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sleep", "300")
	if err := cmd.Start(); err != nil {
		t.Skipf("there is no sleep: %v", err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return cmd
}

func record(t *testing.T, dir string, task running.Task) {
	t.Helper()
	data, err := json.Marshal(task)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, task.ID+".json"), data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// A number that the system has given to another process is never signaled.
func TestReusedNumber(t *testing.T) {
	t.Parallel()
	dir, innocent := t.TempDir(), sleeper(t)
	if err := os.Chmod(dir, 0o700); err != nil { //nolint:gosec // a directory
		t.Fatal(err)
	}
	r := running.NewRegistry(dir)
	self := family.Process{PID: os.Getpid(), Start: family.Started(os.Getpid())}
	other := family.Process{PID: innocent.Process.Pid, Start: "boot/1"}
	record(t, dir, running.Task{ID: "deadowner0", Name: "a", Started: time.Now(), Owner: other, Leader: other})
	record(t, dir, running.Task{ID: "deadleader", Name: "b", Started: time.Now(), Owner: self, Leader: other})
	record(t, dir, running.Task{ID: "longdead00", Name: "c", Started: time.Now().Add(-48 * time.Hour), Owner: other, Leader: other})
	if tasks := r.List(); len(tasks) != 1 || tasks[0].ID != "deadleader" {
		t.Errorf("got %+v", tasks)
	}
	if _, err := os.Stat(filepath.Join(dir, "longdead00.json")); err == nil {
		t.Error("an old file is kept")
	}
	if _, err := r.Stop(t.Context(), "deadowner0", "me"); !isNotRunning(err) {
		t.Errorf("got %v", err)
	}
	if _, err := r.Stop(t.Context(), "deadleader", "me"); err != nil {
		t.Errorf("got %v", err)
	}
	if family.Started(innocent.Process.Pid) == "" || innocent.ProcessState != nil {
		t.Error("another process was ended")
	}
}

func isNotRunning(err error) bool {
	_, ok := errors.AsType[*running.NotRunningError](err)
	return ok
}

// IDs cannot be paths, and files of other users reveal nothing.
func TestHostile(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "running")
	r := running.NewRegistry(dir)
	for _, id := range []string{"", "../../etc/a", "a", strings.Repeat("a", 1<<16), "aaaaaaaaa\x00", "AAAAAAAAAA"} {
		if _, err := r.Stop(t.Context(), id, "me"); !isNotRunning(err) || len(err.Error()) > 400 {
			t.Errorf("%.20q: got %v", id, err)
		}
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	self := family.Process{PID: os.Getpid(), Start: family.Started(os.Getpid())}
	record(t, dir, running.Task{ID: "aaaaaaaaaa", Owner: self})
	if len(r.List()) != 1 {
		t.Fatal("the file is not read")
	}
	if runtime.GOOS != "windows" {
		if err := os.Chmod(dir, 0o777); err != nil { //nolint:gosec // the point
			t.Fatal(err)
		}
		if len(r.List()) != 0 {
			t.Error("a directory that others can write to is used")
		}
		run := r.Begin(running.Task{Name: "own"}, func(string) {})
		if files, err := os.ReadDir(dir); err != nil || len(files) != 1 || len(r.List()) != 1 {
			t.Errorf("got %v, %v", files, err)
		}
		run.End()
	}
}

func TestPermissions(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "running")
	run := running.NewRegistry(dir).Begin(running.Task{Name: "a"}, func(string) {})
	defer run.End()
	if runtime.GOOS == "windows" {
		return
	}
	info, err := os.Stat(dir)
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("got %v, %v", info, err)
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 1 {
		t.Fatalf("got %v, %v", files, err)
	}
	if info, err := files[0].Info(); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("got %v, %v", info, err)
	}
}
