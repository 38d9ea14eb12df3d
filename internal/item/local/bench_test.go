package local_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/local"
	"github.com/copse-dev/copse/internal/item/local/location"
)

// sizes returns the numbers of items that are measured; the large one only if asked for.
func sizes() []int {
	if os.Getenv("COPSE_BENCH_LARGE") != "" {
		return []int{10_000, 100_000}
	}
	return []int{10_000}
}

// filled makes a project with n items of about 1 KB.
func filled(b *testing.B, n int) string {
	b.Helper()
	dir := project(b)
	words := strings.Fields("the login session token crash when a user opens the page and server returns an error because of missing " +
		"header in request with proxy config enabled on staging environment after deployment Expected Actual steps")
	random := rand.New(rand.NewPCG(1, 2))
	for id := 1; id <= n; id++ {
		var text strings.Builder
		text.WriteString(itemText(fmt.Sprint(id), "assignee: alice", "labels:", "  - one", "  - two",
			"created: 2026-03-02T08:00:00.000Z", "updated: 2026-03-02T08:00:00.000Z",
			fmt.Sprintf("parent: %q", fmt.Sprint(max(1, id/10))), "depends_on:", fmt.Sprintf("  - %q", fmt.Sprint(random.IntN(n)+1))))
		for text.Len() < 1000 {
			text.WriteString(words[random.IntN(len(words))] + " ")
		}
		write(b, dir, fmt.Sprintf("items/%d.md", id), text.String())
	}
	return dir
}

func BenchmarkFirstList(b *testing.B) {
	for _, n := range sizes() {
		dir := filled(b, n)
		time.Sleep(4 * time.Second) // what was written just now is not kept
		for way, caches := range map[string]string{"read": "", "kept": b.TempDir()} {
			b.Run(fmt.Sprintf("%d-%s", n, way), func(b *testing.B) {
				for b.Loop() {
					s := local.New(location.Search{Dir: dir, Root: dir}, time.Now).CachedIn(caches)
					snapshot, err := s.Snapshot(b.Context())
					if err != nil || snapshot.Len() != n {
						b.Fatal(snapshot.Len(), err)
					}
					_ = s.Close()
				}
			})
		}
	}
}

func BenchmarkWarm(b *testing.B) {
	for _, n := range sizes() {
		dir := filled(b, n)
		for way, watching := range map[string]bool{"watching": true, "looking": false} {
			s := open(b, dir, watching)
			snapshot := func() (*item.Snapshot, item.Config) {
				config, err := s.Config(b.Context())
				if err != nil {
					b.Fatal(err)
				}
				snapshot, err := s.Snapshot(b.Context())
				if err != nil || snapshot.Len() != n {
					b.Fatal(snapshot.Len(), err)
				}
				return snapshot, config
			}
			snapshot()
			snapshot()
			for name, query := range map[string]func(*item.Snapshot, item.Config){
				"nothing": func(*item.Snapshot, item.Config) {},
				"list":    func(s *item.Snapshot, c item.Config) { s.List(c, item.Filter{Status: "todo", Ready: true}) },
				"search":  func(s *item.Snapshot, c item.Config) { s.Search(c, "Session Token", item.Filter{}) },
				"tree":    func(s *item.Snapshot, c item.Config) { _, _ = s.Tree(c, item.Filter{}, 0, 0, nil) },
			} {
				b.Run(fmt.Sprintf("%s/%s/%d", way, name, n), func(b *testing.B) {
					for b.Loop() {
						query(snapshot())
					}
				})
			}
			b.Run(fmt.Sprintf("%s/item/%d", way, n), func(b *testing.B) {
				for b.Loop() {
					if _, err := s.Item(b.Context(), 7); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func BenchmarkWrite(b *testing.B) {
	for _, n := range sizes() {
		dir := filled(b, n)
		draft := item.Draft{Title: "A title", Description: strings.Repeat("some text ", 100), Parent: 5, DependsOn: []item.ID{6}}
		warm := open(b, dir, true)
		for range 2 {
			if _, err := warm.Snapshot(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
		cold := open(b, dir, true)
		b.Run(fmt.Sprintf("create warm/%d", n), func(b *testing.B) {
			for b.Loop() {
				if _, err := warm.Create(b.Context(), draft); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("create cold/%d", n), func(b *testing.B) {
			for b.Loop() {
				if _, err := cold.Create(b.Context(), draft); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("update warm/%d", n), func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				if _, err := warm.Update(b.Context(), 7, item.Patch{Title: new(fmt.Sprint(i))}); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("update and list/%d", n), func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				if _, err := warm.Update(b.Context(), 7, item.Patch{Title: new(fmt.Sprint(i))}); err != nil {
					b.Fatal(err)
				}
				if _, err := warm.Snapshot(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkSync is what of a creation is the disk's: two files of that size and their two
// directories, written as the store does.
func BenchmarkSync(b *testing.B) {
	dir := b.TempDir()
	text := []byte(strings.Repeat("some text ", 130))
	for b.Loop() {
		done := make(chan error, 2)
		for i := range 2 {
			go func() {
				directory := filepath.Join(dir, fmt.Sprint(i))
				done <- syncOne(directory, text)
			}()
		}
		for range 2 {
			if err := <-done; err != nil {
				b.Fatal(err)
			}
		}
	}
}

func syncOne(directory string, text []byte) error {
	if err := os.MkdirAll(directory, 0o777); err != nil {
		return err
	}
	file, err := os.Create(filepath.Join(directory, "new"))
	if err != nil {
		return err
	}
	defer file.Close()
	if _, err := file.Write(text); err != nil {
		return err
	}
	if err := file.Sync(); err != nil {
		return err
	}
	if err := os.Rename(file.Name(), filepath.Join(directory, "file")); err != nil {
		return err
	}
	opened, err := os.Open(directory)
	if err != nil {
		return err
	}
	defer opened.Close()
	return opened.Sync()
}

// BenchmarkMemory reports what a store with its items takes.
func BenchmarkMemory(b *testing.B) {
	for _, n := range sizes() {
		dir := filled(b, n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				var before, after runtime.MemStats
				runtime.GC()
				runtime.ReadMemStats(&before)
				s := open(b, dir, true)
				snapshot, err := s.Snapshot(b.Context())
				if err != nil {
					b.Fatal(err)
				}
				peak := heapInUse()
				runtime.GC()
				runtime.ReadMemStats(&after)
				b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/(1<<20), "MiB-kept")
				b.ReportMetric(float64(peak)/(1<<20), "MiB-peak-heap")
				b.ReportMetric(float64(after.Sys)/(1<<20), "MiB-sys")
				runtime.KeepAlive(snapshot)
				_ = s.Close()
			}
		})
	}
}

func heapInUse() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapInuse
}
