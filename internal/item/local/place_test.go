package local_test

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/local"
	"github.com/copse-dev/copse/internal/item/local/location"
	"github.com/copse-dev/copse/internal/item/storage"
	"github.com/copse-dev/copse/internal/item/ticfile"
)

func TestPlace(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		stores []string
		place  location.Search
		want   string // the directory that has the store; empty for none
	}{
		"here":                   {[]string{"r/a", "r"}, location.Search{Dir: "r/a", Root: "r"}, "r/a"},
		"above":                  {[]string{"r"}, location.Search{Dir: "r/a/b", Root: "r"}, "r"},
		"next above":             {[]string{"r", "r/a"}, location.Search{Dir: "r/a/b", Root: "r"}, "r/a"},
		"not above the root":     {[]string{"."}, location.Search{Dir: "r/a", Root: "r"}, ""},
		"outside of git":         {[]string{"r"}, location.Search{Dir: "r/a"}, ""},
		"outside of git, here":   {[]string{"r"}, location.Search{Dir: "r"}, "r"},
		"linked worktree":        {[]string{"main"}, location.Search{Dir: "w/a", Root: "w", Main: "main"}, "main"},
		"linked with its own":    {[]string{"main", "w"}, location.Search{Dir: "w/a", Root: "w", Main: "main"}, "w"},
		"linked in the main one": {[]string{"main"}, location.Search{Dir: "main/w/a", Root: "main/w", Main: "main"}, "main"},
		"main worktree":          {nil, location.Search{Dir: "main", Root: "main", Main: "main"}, ""},
		"nowhere":                {nil, location.Search{Dir: "w", Root: "w", Main: "main"}, ""},
		"root by another path":   {[]string{"x", "w"}, location.Search{Dir: "w/a", Root: "x"}, "x"},
		"only that root":         {[]string{"w"}, location.Search{Dir: "w/a", Root: "x"}, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			base := t.TempDir()
			for _, dir := range []string{"r/a/b", "main/w/a", "w/a", "x"} {
				if err := os.MkdirAll(filepath.Join(base, dir), 0o777); err != nil {
					t.Fatal(err)
				}
			}
			for _, dir := range test.stores {
				write(t, filepath.Join(base, dir), "config.yml", "types: [t]\nstatuses: [s]\ncurrent_iteration: "+dir+"\n")
			}
			place := test.place
			for _, path := range []*string{&place.Dir, &place.Root, &place.Main} {
				if *path != "" {
					*path = filepath.Join(base, *path)
				}
			}
			c, err := local.New(place, time.Now).Config(t.Context())
			if test.want == "" {
				if !errors.Is(err, storage.ErrNoProject) {
					t.Errorf("got %q, %v", c.CurrentIteration, err)
				}
				return
			}
			if err != nil || c.CurrentIteration != test.want {
				t.Errorf("got %q, %v", c.CurrentIteration, err)
			}
		})
	}
}

func TestInit(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir, true)
	for _, want := range []bool{true, false} {
		created, err := s.Init(t.Context())
		if err != nil || created != want {
			t.Errorf("got %v, %v, want %v", created, err, want)
		}
	}
	diff(t, "configuration", ticfile.NewConfig, read(t, dir, "config.yml"))
	diff(t, "what git ignores", "*\n", read(t, dir, ".copse/.gitignore"))
	if it, err := s.Create(t.Context(), item.Draft{Title: "x"}); err != nil || it.ID != 1 || it.Iteration != "default" {
		t.Errorf("created %+v, %v", it, err)
	}
}

// Any existing file counts as a project.
func TestInitKeepsWhatIsThere(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "config.yml", "next_id: 1\n")
	if err := os.Mkdir(filepath.Join(dir, "below"), 0o777); err != nil {
		t.Fatal(err)
	}
	s := local.New(location.Search{Dir: filepath.Join(dir, "below"), Root: dir}, time.Now)
	if created, err := s.Init(t.Context()); err != nil || created {
		t.Errorf("got %v, %v", created, err)
	}
	diff(t, "configuration", "next_id: 1\n", read(t, dir, "config.yml"))
}

func TestInitWithDir(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "items/3.md", itemText("3"))
	s := open(t, dir, true)
	if created, err := s.Init(t.Context()); err != nil || !created {
		t.Errorf("got %v, %v", created, err)
	}
	if it, err := s.Create(t.Context(), item.Draft{Title: "x"}); err != nil || it.ID != 4 {
		t.Errorf("created %+v, %v", it, err)
	}
}

func TestInitAtTheSameTime(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var group sync.WaitGroup
	var created atomic.Int32
	for range 4 {
		group.Go(func() {
			s := local.New(location.Search{Dir: dir}, time.Now)
			first, err := s.Init(t.Context())
			if err != nil {
				t.Error(err)
			}
			if first {
				created.Add(1)
			}
		})
	}
	group.Wait()
	if created.Load() != 1 {
		t.Errorf("%d have created it", created.Load())
	}
}

// The store that is nearer counts as soon as it is there.
func TestPlaceIsLookedAtAnew(t *testing.T) {
	t.Parallel()
	dir := project(t)
	write(t, dir, "items/1.md", itemText("1"))
	below := filepath.Join(dir, "below")
	if err := os.Mkdir(below, 0o777); err != nil {
		t.Fatal(err)
	}
	s := local.New(location.Search{Dir: below, Root: dir}, time.Now)
	t.Cleanup(func() { _ = s.Close() })
	if got, _ := titles(t, s); got != "1 Item 1" {
		t.Errorf("got %q", got)
	}
	write(t, below, "config.yml", config)
	if got, _ := titles(t, s); got != "" {
		t.Errorf("got %q", got)
	}
	if err := os.RemoveAll(filepath.Join(below, ".tic")); err != nil {
		t.Fatal(err)
	}
	if got, _ := titles(t, s); got != "1 Item 1" {
		t.Errorf("got %q", got)
	}
}
