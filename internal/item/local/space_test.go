package local_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/itemdir"
	"github.com/copse-dev/copse/internal/item/local"
	"github.com/copse-dev/copse/internal/item/local/exchange"
	"github.com/copse-dev/copse/internal/item/local/location"
	"github.com/copse-dev/copse/internal/item/storage"
)

// space is what the items of these tests can take together: three of about 4,000 bytes fit, four do
// not.
const space itemdir.Space = 15_000

func long(n int) string { return strings.Repeat("x", n) }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// contents returns the files of a store and of its histories.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, name := range []string{"config.yml", "items", "trash", ".copse/history"} {
		listed, err := os.ReadDir(path(dir, name))
		if err != nil {
			found[name] = ""
			if name == "config.yml" {
				found[name] = read(t, dir, name)
			}
			continue
		}
		for _, d := range listed {
			found[name+"/"+d.Name()] = read(t, dir, name+"/"+d.Name())
		}
	}
	return found
}

// A change that would leave items that no list has is refused, whether the items are in memory or
// not, and changes nothing. Deleting and shortening make space.
func TestWritersKnowTheSpace(t *testing.T) {
	t.Parallel()
	for name, cold := range map[string]bool{"in memory": false, "on disk": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, dir := t.Context(), project(t)
			kept := open(t, dir, true)
			local.SetSpace(kept, space)
			store := func() *local.Store {
				if !cold {
					return kept
				}
				s := open(t, dir, true)
				local.SetSpace(s, space)
				return s
			}
			for _, description := range []string{long(4000), long(4500), long(4000)} {
				_, err := store().Create(ctx, item.Draft{Title: "big", Description: description})
				must(t, err)
				if !cold {
					_, err = kept.Snapshot(ctx)
					must(t, err)
				}
			}
			_, err := store().Create(ctx, item.Draft{Title: "gone", Description: long(500)})
			must(t, err)
			must(t, store().Delete(ctx, 4, "", false))

			refused := func(what string, change func(*local.Store) error) {
				t.Helper()
				before := contents(t, dir)
				err := change(store())
				refusal, ok := errors.AsType[*storage.StoreError](err)
				if !ok || !strings.Contains(err.Error(), "more than the 0.01431 MiB allowed. Delete or shorten the largest ones: #2 (") || strings.Count(err.Error(), " bytes)") != 3 {
					t.Errorf("%s: %v, %v", what, refusal, err)
				}
				diff(t, what, before, contents(t, dir))
			}
			refused("create", func(s *local.Store) error {
				_, err := s.Create(ctx, item.Draft{Title: "more", Description: long(4000), Iteration: "new"})
				return err
			})
			refused("comment", func(s *local.Store) error {
				_, err := s.AddComment(ctx, 1, "alice", long(4000))
				return err
			})
			refused("update", func(s *local.Store) error {
				_, err := s.Update(ctx, 1, item.Patch{Description: new(long(8000)), Iteration: new("newer"), Status: new("done")})
				return err
			})
			write(t, dir, "items/9.md", itemText("9")+long(1200))
			refused("restore", func(s *local.Store) error { _, err := s.Restore(ctx, 4); return err })
			must(t, os.Remove(path(dir, "items/9.md")))
			refused("sync", func(s *local.Store) error {
				return s.Exchange(ctx, func(files exchange.Files, _ string) (exchange.Files, string, error) {
					files["items/7.md"] = files["items/1.md"]
					return files, "noted", nil
				})
			})

			all, err := store().Snapshot(ctx)
			must(t, err)
			if all.Len() != 3 || len(all.Warnings) != 0 {
				t.Errorf("%d items, %v", all.Len(), all.Warnings)
			}
			_, err = store().Update(ctx, 2, item.Patch{Description: new("short")})
			must(t, err)
			_, err = store().AddComment(ctx, 1, "alice", long(4000))
			must(t, err)
			must(t, store().Delete(ctx, 1, "", false))
			_, err = store().Create(ctx, item.Draft{Title: "more", Description: long(7000)})
			must(t, err)
		})
	}
}

// A store that already has too much accepts what makes it smaller, from a sync, too, and nothing
// else.
func TestAboveTheSpace(t *testing.T) {
	t.Parallel()
	ctx, dir := t.Context(), project(t)
	for id := 1; id <= 5; id++ {
		write(t, dir, fmt.Sprintf("items/%d.md", id), itemText(fmt.Sprint(id))+long(4000))
	}
	s := open(t, dir, true)
	local.SetSpace(s, space)
	_, err := s.Snapshot(ctx)
	must(t, err)
	if _, err = s.AddComment(ctx, 1, "alice", "more"); err == nil {
		t.Error("a comment is added")
	}
	must(t, s.Exchange(ctx, func(files exchange.Files, note string) (exchange.Files, string, error) {
		delete(files, "items/5.md")
		return files, note, nil
	}))
	_, err = s.Update(ctx, 1, item.Patch{Description: new("short")})
	must(t, err)
	if _, err = s.AddComment(ctx, 1, "alice", "more"); err != nil {
		t.Error(err)
	}
}

// The note of a large store, with which a new process need not look at all files, is used only as
// long as it can be true.
func TestUsedNote(t *testing.T) {
	t.Parallel()
	ctx, dir := t.Context(), project(t)
	const many = 200
	for id := 1; id <= many; id++ {
		write(t, dir, fmt.Sprintf("items/%d.md", id), itemText(fmt.Sprint(id)))
	}
	create := func(space itemdir.Space) error {
		s := open(t, dir, true)
		local.SetSpace(s, space)
		_, err := s.Create(context.WithoutCancel(ctx), item.Draft{Title: "new", Description: long(100)})
		return err
	}
	must(t, create(0))
	note := read(t, dir, ".copse/used")
	used, _, _ := strings.Cut(note, " ")
	must(t, create(0))
	if again := read(t, dir, ".copse/used"); again == note || again < used {
		t.Errorf("the note %q became %q", note, again)
	}
	// A number that is too large is believed while there is enough space, and then counted.
	info, err := os.Stat(path(dir, "items"))
	must(t, err)
	write(t, dir, ".copse/used", fmt.Sprintf("%d %d\n", 1_000_000, info.ModTime().UnixNano()))
	must(t, create(4_000_000))
	if now := read(t, dir, ".copse/used"); !strings.HasPrefix(now, "1000") {
		t.Errorf("the note is %q", now)
	}
	must(t, create(1_000_000))
	if now := read(t, dir, ".copse/used"); strings.HasPrefix(now, "1000") {
		t.Errorf("the note is %q", now)
	}
	// One of another time is not believed.
	write(t, dir, ".copse/used", fmt.Sprintf("1 %d\n", info.ModTime().Add(-time.Second).UnixNano()))
	if err := create(1000); err == nil {
		t.Error("an old note is believed")
	}
	write(t, dir, ".copse/used", "1")
	must(t, create(0))
}

// Items that a shared store could not list are not copied into one.
func TestSharedWithoutSpace(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	search := location.Search{Dir: root, Root: root, Shared: filepath.Join(root, ".git", "copse", "tic")}
	must(t, os.Mkdir(filepath.Join(root, ".git"), 0o700))
	s := local.New(search, time.Now)
	t.Cleanup(func() { _ = s.Close() })
	_, err := s.Init(t.Context())
	must(t, err)
	_, err = s.Create(t.Context(), item.Draft{Title: "x"})
	must(t, err)
	local.SetSpace(s, 1)
	if _, _, err := s.InitShared(t.Context()); err == nil || !strings.Contains(err.Error(), "bytes together") {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(filepath.Join(root, ".git", "copse")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("something was written: %v", err)
	}
}

// A version that a merge has put beside its item is reported until somebody has deleted it.
func TestVersionBeside(t *testing.T) {
	t.Parallel()
	dir := project(t)
	write(t, dir, "conflicts/1-01234567.md", "x")
	found, err := open(t, dir, true).Check(t.Context())
	if err != nil || len(found) != 1 || found[0].File != "conflicts" || !strings.Contains(found[0].Reason, "1 version of items") {
		t.Errorf("got %v, %v", found, err)
	}
}

// The trash has the same space. Deleted items without it are named and not read, a repair is refused, and
// the doctor still does its other checks.
func TestTrashWithoutSpace(t *testing.T) {
	t.Parallel()
	ctx, dir := t.Context(), project(t)
	must(t, os.MkdirAll(path(dir, "trash"), 0o700))
	for id := 1; id <= 5; id++ {
		write(t, dir, fmt.Sprintf("trash/%d.md", id), itemText(fmt.Sprint(id))+long(4000))
	}
	write(t, dir, "items/9.md", itemText("9"))
	store := func() *local.Store {
		s := open(t, dir, true)
		local.SetSpace(s, space)
		return s
	}
	const want = "has deleted items of more than 0.01431 MiB together; those from #4 on are not read. Remove some for good: `copse item trash purge 4`"
	deleted, warnings, err := store().Deleted(ctx)
	if err != nil || len(deleted) != 3 || len(warnings) != 1 || warnings[0].Reason != want {
		t.Errorf("%d deleted items, %v, %v", len(deleted), warnings, err)
	}
	found, err := store().Check(ctx)
	if err != nil || !slices.Contains(found, item.Warning{File: "trash", Reason: want}) {
		t.Errorf("found %v, %v", found, err)
	}
	_, err = store().Repair(ctx)
	if _, refused := errors.AsType[*storage.StoreError](err); !refused || !strings.Contains(err.Error(), "the deleted items have") {
		t.Errorf("the repair: %v", err)
	}
	must(t, store().Purge(ctx, 4, 5))
	if deleted, warnings, err = store().Deleted(ctx); err != nil || len(deleted) != 3 || len(warnings) != 0 {
		t.Errorf("after a purge: %d deleted items, %v, %v", len(deleted), warnings, err)
	}
	_, err = store().Repair(ctx)
	must(t, err)
}

// A list of deleted items keeps none of their texts.
func TestTrashIsSmall(t *testing.T) { //nolint:paralleltest // it measures the memory of the process
	dir := project(t)
	must(t, os.MkdirAll(path(dir, "trash"), 0o700))
	const size, many = 1 << 20, 8
	for id := 1; id <= many; id++ {
		write(t, dir, fmt.Sprintf("trash/%d.md", id), itemText(fmt.Sprint(id))+long(size))
	}
	s := open(t, dir, true)
	used := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := used()
	deleted, _, err := s.Deleted(t.Context())
	if after := used(); err != nil || len(deleted) != many || after > before+size {
		t.Errorf("%d deleted items take %d bytes, %v", len(deleted), int64(after-before), err)
	}
	runtime.KeepAlive(deleted)
}
