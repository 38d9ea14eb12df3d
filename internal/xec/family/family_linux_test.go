package family_test

import (
	"os"
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

const sleeps = "COPSE_TEST_SLEEPS"

// TestSleep is the process that is killed, and does nothing by itself.
func TestSleep(*testing.T) {
	if os.Getenv(sleeps) != "" {
		time.Sleep(time.Minute)
	}
}
