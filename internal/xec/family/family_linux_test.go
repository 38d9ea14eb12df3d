package family_test

import (
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/copse-dev/copse/internal/xec/family"
)

// A process that was killed has ended, also if its parent does not ask for its status.
func TestKilledAndNotAwaited(t *testing.T) {
	t.Parallel()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	child, err := os.StartProcess(program, []string{program, "-test.run=^TestSleep$"}, &os.ProcAttr{Env: []string{sleeps + "=1"}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = child.Wait() }()
	identity := family.Identify(child.Pid)
	if !identity.Alive() || identity.Gone() {
		t.Errorf("it does not run: %+v", identity)
	}
	if err := child.Kill(); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(20 * time.Second); !identity.Gone(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it was killed, and still counts as alive")
		}
	}
	if found := family.Find(child.Pid, identity.Start); found != nil {
		t.Error("it was found")
	}
}

// A process that /proc does not show, as that of another account under hidepid, has not ended.
func TestHiddenHasNotEnded(t *testing.T) {
	t.Parallel()
	const variable = "COPSE_TEST_HIDDEN"
	parent := family.Identify(os.Getppid())
	if os.Getenv(variable) != "" {
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: 0, Max: 0}); err != nil {
			t.Fatal(err)
		}
		if parent.Alive() || parent.Gone() {
			t.Errorf("alive %t, gone %t", parent.Alive(), parent.Gone())
		}
		return
	}
	again := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestHiddenHasNotEnded$")
	again.Env = append(os.Environ(), variable+"=1")
	if out, err := again.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

const sleeps = "COPSE_TEST_SLEEPS"

// TestSleep is the process that is killed, and does nothing by itself.
func TestSleep(*testing.T) {
	if os.Getenv(sleeps) != "" {
		time.Sleep(time.Minute)
	}
}
