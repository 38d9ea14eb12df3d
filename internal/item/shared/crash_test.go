package shared_test

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/copse-dev/copse/internal/item"
)

// writerVar is set for a process that makes items and syncs until it is killed. It
// prints the title of each item that it was told is there.
const writerVar = "COPSE_TEST_WRITER"

func runWriter(ctx context.Context) error {
	m, err := open(ctx, os.Getenv(cloneVar), os.Getenv(remoteVar), os.Environ())
	if err != nil {
		return err
	}
	defer m.close()
	for n := 0; ; n++ {
		title := fmt.Sprintf("%s %d", os.Getenv(writerVar), n)
		if _, err := m.store.Create(ctx, item.Draft{Title: title}); err != nil {
			return err
		}
		fmt.Println(title)
		if _, err := m.syncer.Sync(ctx); err != nil {
			return err
		}
	}
}

// Processes that write and sync on two machines are killed at any moment. What they were
// told is there is there, once, on both machines, after the next syncs.
func TestKilledSyncs(t *testing.T) {
	t.Parallel()
	const kills = 6
	g, remote, machines := newMachines(t, 2)
	var acknowledged []string
	for n := range kills {
		type running struct {
			cmd   *exec.Cmd
			lines chan []string
		}
		var all []running
		for i, m := range machines {
			cmd := exec.CommandContext(t.Context(), os.Args[0])
			cmd.Env = append(slices.Clone([]string(g.Env)),
				fmt.Sprintf("%s=kill %d machine %d item", writerVar, n, i), cloneVar+"="+m.clone, remoteVar+"="+remote, "TMPDIR="+t.TempDir())
			output, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			lines := make(chan []string, 1)
			go func() {
				var list []string
				for s := bufio.NewScanner(output); s.Scan(); {
					list = append(list, s.Text())
				}
				lines <- list
			}()
			all = append(all, running{cmd, lines})
		}
		time.Sleep(200*time.Millisecond + rand.N(500*time.Millisecond))
		for _, r := range all {
			if err := r.cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			acknowledged = append(acknowledged, <-r.lines...)
			_ = r.cmd.Wait() // it was killed
		}
	}
	for range 2 {
		for _, m := range machines {
			if r := m.sync(t); r.Offline != nil {
				t.Fatal(r.Offline)
			}
		}
	}
	if diff := cmp.Diff(machines[0].files(t), machines[1].files(t)); diff != "" {
		t.Fatalf("the stores differ:\n%s", diff)
	}
	snapshot, err := machines[0].store.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	times := map[string]int{}
	for _, s := range snapshot.List(item.Config{}, item.Filter{All: true}) {
		times[s.Title]++
	}
	for _, title := range acknowledged {
		if times[title] == 0 {
			t.Errorf("%q is lost", title)
		}
	}
	for title, n := range times {
		if n != 1 {
			t.Errorf("%q is there %d times", title, n)
		}
	}
	if len(acknowledged) == 0 {
		t.Error("nothing was written before the kills")
	}
	g.Run(machines[0].clone, "fsck", "--strict")
	t.Logf("%d items of %d killed processes", len(acknowledged), 2*kills)
}
