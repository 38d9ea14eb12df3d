package writers

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/copse-dev/copse/internal/test/soak/rig"
	"github.com/copse-dev/copse/internal/test/stdio"
)

// FailingDisk fills the disk under a store up, turns it read-only, and takes it away, while
// a server works on it.
func FailingDisk(r *rig.Rig) ([]rig.Result, error) {
	disk := filepath.Join(r.Dir, "disk")
	if err := os.MkdirAll(disk, 0o755); err != nil {
		return nil, err
	}
	mount := func(args ...string) error {
		out, err := exec.CommandContext(r.Context, "mount", args...).CombinedOutput()
		if err != nil {
			return fmt.Errorf("mount: %w: %s", err, out)
		}
		return nil
	}
	if err := mount("-t", "tmpfs", "-o", "size=2m,nr_inodes=600", "soak", disk); err != nil {
		return []rig.Result{{What: "a disk that fills up, turns read-only, vanishes", Note: "left out: a disk cannot be mounted here: " + strings.TrimSpace(err.Error())}}, nil
	}
	defer func() { _ = exec.CommandContext(context.WithoutCancel(r.Context), "umount", "--lazy", disk).Run() }()
	dir := filepath.Join(disk, "project")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	if out, err := exec.CommandContext(r.Context, "git", "init", "-q", dir).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("git init: %w: %s", err, out)
	}
	if _, err := r.Command(dir, nil, "init", "--branches", "--items"); err != nil {
		return nil, err
	}
	s, err := stdio.Spawn(r.Context, dir, r.Copse(), "mcp", "serve")
	if err != nil {
		return nil, err
	}
	defer s.End()
	d := &faultyStore{r: r, s: s, dir: dir, made: make(map[string]bool)}

	var results []rig.Result
	for _, try := range []func(*rig.Result) error{
		func(res *rig.Result) error { return d.fill(res, disk) },
		func(res *rig.Result) error {
			return d.close(res, func(mode string) error { return mount("-o", "remount,"+mode, disk) })
		},
		d.vanish,
	} {
		var res rig.Result
		if err := try(&res); err != nil {
			return nil, err
		}
		results = append(results, res)
	}
	return results, nil
}

// fill makes items while there is now enough room on the disk and now not.
func (d *faultyStore) fill(res *rig.Result, disk string) error {
	res.What = "work items on a disk that fills up"
	ballast := filepath.Join(disk, "ballast")
	for round := 0; round < 3 || d.r.GoOn() && round < 20; round++ {
		_ = os.WriteFile(ballast, make([]byte, d.r.Random.IntN(1<<20)), 0o644) // as much as there is room for
		for range 150 {
			res.Tried++
			d.create(res)
		}
		if err := os.Remove(ballast); err != nil {
			return err
		}
		d.verify(res)
		if round%3 == 2 {
			if err := d.empty(); err != nil {
				return err
			}
		}
	}
	if d.refused == 0 {
		res.Lost++
		res.Note = "the disk never filled up"
	} else {
		res.Note = fmt.Sprintf("%d were refused, with a reason, since the disk was full", d.refused)
	}
	return nil
}

// close makes items while the disk is read-only ("ro"), and after it is writable ("rw").
func (d *faultyStore) close(res *rig.Result, remount func(mode string) error) error {
	res.What = "work items on a disk that turns read-only and back"
	if err := d.empty(); err != nil {
		return err
	}
	for range 5 {
		if err := remount("ro"); err != nil {
			return err
		}
		for range 5 {
			res.Tried++
			d.create(res)
		}
		d.verify(res)
		if err := remount("rw"); err != nil {
			return err
		}
		res.Tried++
		before := len(d.made)
		d.create(res)
		if len(d.made) != before+1 {
			res.Lost++
			res.Note = "nothing could be written after it was writable again: " + d.reason
		}
	}
	return nil
}

// vanish asks the server while its project is not there.
func (d *faultyStore) vanish(res *rig.Result) error {
	res.What = "a project that vanishes and comes back"
	away := d.dir + "-away"
	for range 10 {
		if err := os.Rename(d.dir, away); err != nil {
			return err
		}
		for _, tool := range []string{"list_items", "get_current_branch", "get_project_context"} {
			res.Tried++
			if _, err := d.s.Request("tools/call", fmt.Sprintf(`{"name":%q,"arguments":{}}`, tool)); err != nil {
				return err
			}
			res.Survived++ // an answer, whatever it says
		}
		if err := os.Rename(away, d.dir); err != nil {
			return err
		}
		d.verify(res)
	}
	return nil
}

// faultyStore is a store on a failing disk, and the writes that it acknowledged.
type faultyStore struct {
	r       *rig.Rig
	s       *stdio.Server
	dir     string
	n       int
	made    map[string]bool
	refused int
	reason  string // of the last refusal
}

// create makes an item. It is made, or refused with a reason; nothing else counts as survival.
func (d *faultyStore) create(res *rig.Result) {
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
		d.reason = a.Result.Content[0].Text
	}
	res.Survived++
}

// verify counts as lost what was acknowledged and is not there, and files that are broken.
func (d *faultyStore) verify(res *rig.Result) {
	out, err := d.r.Command(d.dir, nil, "item", "list", "--all", "--json")
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
	if _, err := d.r.Command(d.dir, nil, "item", "doctor"); err != nil {
		res.Lost++
		res.Note = err.Error()
	}
}

// empty makes room: it takes away the items that were made so far, and their history.
func (d *faultyStore) empty() error {
	for _, part := range []string{"items/*", ".copse/history/*"} {
		files, err := filepath.Glob(filepath.Join(d.dir, ".tic", filepath.FromSlash(part)))
		if err != nil {
			return err
		}
		for _, file := range files {
			if err := os.RemoveAll(file); err != nil {
				return err
			}
		}
	}
	d.made = make(map[string]bool)
	return nil
}
