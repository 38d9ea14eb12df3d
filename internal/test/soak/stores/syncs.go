package stores

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/copse-dev/copse/internal/test/soak/rig"
)

// KilledSyncs lets two clones write to their shared stores and sync at the same time, and kills the
// syncs with SIGKILL at random moments. Afterward both clones have each item and each comment once,
// and git finds no lock that somebody left.
func KilledSyncs(r *rig.Rig) ([]rig.Result, error) {
	s := &syncs{Rig: r, hub: filepath.Join(r.Dir, "hub.git"), typical: 100 * time.Millisecond}
	s.env = []string{"HOME=" + r.Dir, "XDG_CONFIG_HOME=" + r.Dir, "XDG_STATE_HOME=" + r.Dir, "XDG_CACHE_HOME=" + r.Dir, "GIT_CONFIG_GLOBAL=" + os.DevNull, "TMPDIR=" + r.Dir}
	if err := s.prepare(); err != nil {
		return nil, err
	}
	res := rig.Result{What: "kill -9 of item sync in two clones that sync at the same time"}
	const before = 10 // rounds until the clones are compared
	for round := 1; (round <= before || r.GoOn()) && r.Context.Err() == nil; round++ {
		for i := range s.clones {
			if err := s.write(i, round); err != nil {
				return nil, err
			}
		}
		if err := s.race(); err != nil {
			return nil, err
		}
		if round%before != 0 {
			continue
		}
		if err := s.compare(); err != nil {
			res.Lost++
			res.Note = err.Error()
			break
		}
	}
	res.Tried = s.killed + s.ended
	res.Survived = res.Tried - res.Lost
	if res.Note == "" {
		res.Note = fmt.Sprintf("%d killed, %d ended before; %d items and %d comments in both clones, each once; no lock was left", s.killed, s.ended, len(s.items), len(s.comments))
	}
	return []rig.Result{res}, nil
}

// syncs is two clones with a bare remote between them.
type syncs struct {
	*rig.Rig
	hub    string
	clones [2]string
	env    []string

	typical       time.Duration // that a sync takes
	killed, ended int
	// items and comments are what commands acknowledged.
	items, comments []string
}

func (s *syncs) prepare() error {
	s.clones = [2]string{filepath.Join(s.Dir, "clone-0"), filepath.Join(s.Dir, "clone-1")}
	for _, args := range [][]string{{"init", "-q", "--bare", s.hub}, {"init", "-q", s.clones[0]}, {"init", "-q", s.clones[1]}} {
		if out, err := exec.CommandContext(s.Context, "git", args...).CombinedOutput(); err != nil {
			return fmt.Errorf("git %v: %w: %s", args, err, out)
		}
	}
	for i, clone := range s.clones {
		if out, err := exec.CommandContext(s.Context, "git", "-C", clone, "remote", "add", "origin", s.hub).CombinedOutput(); err != nil {
			return fmt.Errorf("git remote: %w: %s", err, out)
		}
		commands := [][]string{{"item", "init", "--shared"}, {"item", "sync"}}
		if i == 0 {
			commands = append(commands, []string{"item", "create", "commented by both"}, []string{"item", "sync"})
		}
		for _, args := range commands {
			if _, err := s.Command(clone, s.env, args...); err != nil {
				return err
			}
		}
	}
	return nil
}

// write makes an item in a clone, and comments one that both have.
func (s *syncs) write(i, round int) error {
	title := fmt.Sprintf("item %d of clone %d.", round, i)
	if _, err := s.Command(s.clones[i], s.env, "item", "create", title); err != nil {
		return err
	}
	s.items = append(s.items, title)
	comment := fmt.Sprintf("comment %d of clone %d.", round, i)
	if _, err := s.Command(s.clones[i], s.env, "item", "comment", "1", comment); err != nil {
		return err
	}
	s.comments = append(s.comments, comment)
	return nil
}

// race syncs both clones at the same time and kills most of the syncs.
func (s *syncs) race() error {
	var racing sync.WaitGroup
	var failed [2]error
	var took [2]time.Duration
	for i, clone := range s.clones {
		cmd := exec.CommandContext(s.Context, s.Copse(), "item", "sync")
		cmd.Dir, cmd.Env = clone, append(os.Environ(), s.env...)
		var stderr strings.Builder
		cmd.Stderr = &stderr
		start := time.Now()
		if err := cmd.Start(); err != nil {
			return err
		}
		kill := time.AfterFunc(time.Duration(s.Random.Int64N(int64(s.typical*5/4))), func() { _ = cmd.Process.Kill() })
		racing.Go(func() {
			err := cmd.Wait()
			kill.Stop()
			switch {
			case err == nil:
				took[i] = time.Since(start)
			case cmd.ProcessState.ExitCode() != -1:
				failed[i] = fmt.Errorf("clone %d: item sync: %w: %s", i, err, stderr.String())
			}
		})
	}
	racing.Wait()
	for _, d := range took {
		if d == 0 {
			s.killed++
			continue
		}
		s.ended++
	}
	// As long as a sync takes, so that each step of it is hit.
	longest := max(took[0], took[1])
	if longest == 0 {
		longest = s.typical * 9 / 8
	}
	s.typical = min((s.typical*7+longest)/8, 5*time.Second)
	return errors.Join(failed[:]...)
}

// compare syncs the clones and returns an error unless both have everything once.
func (s *syncs) compare() error {
	for _, i := range []int{0, 1, 0} {
		if _, err := s.Command(s.clones[i], s.env, "item", "sync"); err != nil {
			return err
		}
	}
	var lists, shown [2]string
	for i, clone := range s.clones {
		var err error
		if lists[i], err = s.Command(clone, s.env, "item", "list", "--all", "--json"); err != nil {
			return err
		}
		if shown[i], err = s.Command(clone, s.env, "item", "show", "1", "--json"); err != nil {
			return err
		}
		for _, title := range s.items {
			if n := strings.Count(lists[i], fmt.Sprintf("%q", title)); n != 1 {
				return fmt.Errorf("clone %d has %q %d times", i, title, n)
			}
		}
		for _, comment := range s.comments {
			if n := strings.Count(shown[i], fmt.Sprintf("%q", comment)); n != 1 {
				return fmt.Errorf("clone %d has %q %d times", i, comment, n)
			}
		}
		if out, err := exec.CommandContext(s.Context, "git", "-C", clone, "fsck", "--strict", "--no-dangling").CombinedOutput(); err != nil {
			return fmt.Errorf("clone %d: git fsck: %w: %s", i, err, out)
		}
	}
	if lists[0] != lists[1] || shown[0] != shown[1] {
		return errors.New("the clones differ after a sync")
	}
	return errors.Join(noLocks(s.hub), noLocks(s.clones[0]), noLocks(s.clones[1]))
}

// noLocks returns an error if there is a file in a repository that keeps git from writing.
// The locks of copse are files, too, but the system releases those of a killed process.
func noLocks(dir string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == "copse":
			return fs.SkipDir
		case strings.HasSuffix(path, ".lock"):
			return fmt.Errorf("%s was left", path)
		}
		return nil
	})
}
