//go:build unix

package lockedstore_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/copse-dev/copse/internal/lockedstore"
)

// The test program is its own other process: with roleVariable set it plays a role in the directory
// of folderVariable.
const (
	roleVariable = "LOCKEDSTORE_TEST_ROLE"
	dirVariable  = "LOCKEDSTORE_TEST_FOLDER"
)

func TestMain(m *testing.M) {
	role := os.Getenv(roleVariable)
	if role == "" {
		os.Exit(m.Run())
	}
	store := lockedstore.New(os.Getenv(dirVariable), lockName, patience)
	err := store.Change(context.Background(), func(tx *lockedstore.Tx) error {
		switch role {
		case "hold":
			fmt.Println("locked")
			select {} // until killed
		case "fill":
			limit := syscall.Rlimit{Cur: 1 << 10, Max: 1 << 10}
			if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
				return err
			}
			return tx.Write(file("small", "new"), file("large", strings.Repeat("x", 1<<16)))
		}
		return errors.New("no such role")
	})
	fmt.Println(err)
}

func play(t *testing.T, role, dir string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), roleVariable+"="+role, dirVariable+"="+dir)
	cmd.Stderr = os.Stderr
	return cmd
}

func TestLockEndsWithItsProcess(t *testing.T) {
	t.Parallel()
	store, dir := newStore(t)
	holder := play(t, "hold", dir)
	stdout, err := holder.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := holder.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(stdout).ReadString('\n'); err != nil || line != "locked\n" {
		t.Fatalf("the other process says %q, %v", line, err)
	}
	impatient := lockedstore.New(dir, lockName, 1)
	if _, ok := errors.AsType[*lockedstore.BusyError](impatient.Change(t.Context(), increment)); !ok {
		t.Error("the lock of another process does not keep us out")
	}
	if err := holder.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := store.Change(t.Context(), increment); err != nil {
		t.Error(err)
	}
	_ = holder.Wait()
}

// A limit on the size of files stands for a full disk: both fail a write.
func TestWriteFails(t *testing.T) {
	t.Parallel()
	store, dir := newStore(t)
	if err := store.Change(t.Context(), write(file("small", "old"), file("large", "old"))); err != nil {
		t.Fatal(err)
	}
	out, err := play(t, "fill", dir).Output()
	if err != nil {
		t.Fatal(err)
	}
	want := "write \"large\": " + syscall.EFBIG.Error() + "\n"
	if string(out) != want {
		t.Errorf("the error is %q, want %q", out, want)
	}
	got := contents(t, dir)
	if got["small"] != "old" || got["large"] != "old" || len(got) != 2 {
		t.Errorf("after a failed write the files are %v", got)
	}
}

func TestReadOnlyDir(t *testing.T) {
	t.Parallel()
	if os.Geteuid() == 0 {
		t.Skip("permissions do not bind root")
	}
	store, dir := newStore(t)
	if err := store.Change(t.Context(), write(file("f", "old"))); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	err := store.Change(t.Context(), write(file("f", "new")))
	if !errors.Is(err, os.ErrPermission) {
		t.Fatalf("got %v", err)
	}
	checkNoPath(t, err, dir)
}

// A user who can open a lock file can hold the lock, so only the writers of its directory can open it.
func TestLockIsForWriters(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ dir, left, want fs.FileMode }{
		{0o755, 0, 0o600},
		{0o755, 0o644, 0o600}, // by an earlier version
		{0o700, 0o666, 0o600},
		{0o770, 0o640, 0o640}, // a group shares the directory
		{0o777, 0o644, 0o644},
	} {
		dir := t.TempDir()
		lock := filepath.Join(dir, lockName)
		if err := os.MkdirAll(filepath.Dir(lock), 0o777); err != nil {
			t.Fatal(err)
		}
		if test.left != 0 {
			if err := os.WriteFile(lock, nil, test.left); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(lock, test.left); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Chmod(filepath.Dir(lock), test.dir); err != nil {
			t.Fatal(err)
		}
		if err := lockedstore.New(dir, lockName, patience).Change(t.Context(), write()); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(lock)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != test.want {
			t.Errorf("in a directory of mode %o, a lock of mode %o becomes %o, want %o", test.dir, test.left, got, test.want)
		}
	}
}
