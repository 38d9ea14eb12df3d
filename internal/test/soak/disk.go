package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/copse-dev/copse/internal/test/stdio"
)

// failingDisk fills the disk under a store up, turns it read-only, and takes it away, while
// a server works on it.
func failingDisk(r *rig) ([]result, error) {
	disk := filepath.Join(r.dir, "disk")
	if err := os.MkdirAll(disk, 0o755); err != nil {
		return nil, err
	}
	mount := func(args ...string) error {
		out, err := exec.CommandContext(r.ctx, "mount", args...).CombinedOutput()
		if err != nil {
			return fmt.Errorf("mount: %w: %s", err, out)
		}
		return nil
	}
	if err := mount("-t", "tmpfs", "-o", "size=2m,nr_inodes=600", "soak", disk); err != nil {
		return []result{{What: "a disk that fills up, turns read-only, vanishes", Note: "left out: a disk cannot be mounted here: " + strings.TrimSpace(err.Error())}}, nil
	}
	defer func() { _ = exec.CommandContext(context.WithoutCancel(r.ctx), "umount", "--lazy", disk).Run() }()
	dir := filepath.Join(disk, "project")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	if out, err := exec.CommandContext(r.ctx, "git", "init", "-q", dir).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("git init: %w: %s", err, out)
	}
	if _, err := r.command(dir, nil, "init", "--branches", "--items"); err != nil {
		return nil, err
	}
	s, err := stdio.Spawn(r.ctx, dir, r.copse(), "mcp", "serve")
	if err != nil {
		return nil, err
	}
	defer s.End()
	d := &faultyStore{r: r, s: s, dir: dir, made: make(map[string]bool)}

	full := result{What: "work items on a disk that fills up"}
	for round := 0; round < 3 || r.goOn() && round < 20; round++ {
		ballast := filepath.Join(disk, "ballast")
		_ = os.WriteFile(ballast, make([]byte, r.random.IntN(1<<20)), 0o644) // as much as there is room for
		for range 150 {
			full.Tried++
			d.create(&full)
		}
		if err := os.Remove(ballast); err != nil {
			return nil, err
		}
		d.verify(&full)
		if round%3 == 2 {
			if err := d.empty(); err != nil {
				return nil, err
			}
		}
	}
	if d.refused == 0 {
		full.Lost++
		full.Note = "the disk never filled up"
	} else {
		full.Note = fmt.Sprintf("%d were refused, with a reason, since the disk was full", d.refused)
	}

	d.refused = 0
	closed := result{What: "work items on a disk that turns read-only and back"}
	for range 5 {
		if err := mount("-o", "remount,ro", disk); err != nil {
			return nil, err
		}
		for range 5 {
			closed.Tried++
			d.create(&closed)
		}
		d.verify(&closed)
		if err := mount("-o", "remount,rw", disk); err != nil {
			return nil, err
		}
		closed.Tried++
		before := len(d.made)
		d.create(&closed)
		if len(d.made) != before+1 {
			closed.Lost++
			closed.Note = "nothing could be written after it was writable again"
		}
	}

	gone := result{What: "a project that vanishes and comes back"}
	for range 10 {
		away := dir + "-away"
		if err := os.Rename(dir, away); err != nil {
			return nil, err
		}
		for _, tool := range []string{"list_items", "get_current_branch", "get_project_context"} {
			gone.Tried++
			if _, err := s.Request("tools/call", fmt.Sprintf(`{"name":%q,"arguments":{}}`, tool)); err != nil {
				return nil, err
			}
			gone.Survived++ // an answer, whatever it says
		}
		if err := os.Rename(away, dir); err != nil {
			return nil, err
		}
		d.verify(&gone)
	}
	return []result{full, closed, gone}, nil
}

// faultyStore is a store on a failing disk, and the writes that it acknowledged.
type faultyStore struct {
	r       *rig
	s       *stdio.Server
	dir     string
	n       int
	made    map[string]bool
	refused int
}

// create makes an item. It is made, or refused with a reason; nothing else counts as survival.
func (d *faultyStore) create(res *result) {
	d.n++
	title := fmt.Sprintf("item %d", d.n)
	line, err := d.s.Request("tools/call", fmt.Sprintf(`{"name":"create_item","arguments":{"title":%q,"description":%q}}`, title, strings.Repeat("text ", 300)))
	var a struct {
		Result struct {
			IsError bool
			Content []struct{ Text string }
		}
	}
	if err == nil {
		err = json.Unmarshal(line, &a)
	}
	switch {
	case err != nil:
		res.Lost++
		res.Note = err.Error()
		return
	case !a.Result.IsError:
		d.made[title] = true
	case len(a.Result.Content) == 0 || a.Result.Content[0].Text == "":
		res.Lost++
		res.Note = "an item was refused without a reason"
		return
	default:
		d.refused++
	}
	res.Survived++
}

// verify counts as lost what was acknowledged and is not there, and files that are broken.
func (d *faultyStore) verify(res *result) {
	out, err := d.r.command(d.dir, nil, "item", "list", "--all", "--json")
	if err != nil {
		res.Lost++
		res.Note = err.Error()
		return
	}
	for title := range d.made {
		if !strings.Contains(out, `"`+title+`"`) {
			res.Lost++
			res.Note = title + " is lost"
		}
	}
	if _, err := d.r.command(d.dir, nil, "item", "doctor"); err != nil {
		res.Lost++
		res.Note = err.Error()
	}
}

// empty makes room: it takes away the items that were made so far.
func (d *faultyStore) empty() error {
	files, err := filepath.Glob(filepath.Join(d.dir, ".tic", "items", "*.md"))
	if err != nil {
		return err
	}
	for _, file := range files {
		if err := os.Remove(file); err != nil {
			return err
		}
	}
	d.made = make(map[string]bool)
	return nil
}
