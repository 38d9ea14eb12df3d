package seen_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/copse-dev/copse/internal/remote/seen"
)

var noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

func entry(key, title string, at time.Time) seen.Entry {
	return seen.Entry{Key: key, Title: title, State: "open", Person: "ada", Branch: "topic", AsOf: at}
}

func want(t *testing.T, got []seen.Entry, want ...seen.Entry) {
	t.Helper()
	if diff := cmp.Diff(append([]seen.Entry{}, want...), append([]seen.Entry{}, got...)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func file(t *testing.T, dir string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*"+seen.Suffix))
	if err != nil || len(files) != 1 {
		t.Fatalf("%q, %v", files, err)
	}
	return files[0]
}

// What one process notes, others have at their next look, and nobody else's login has it.
func TestProcessesShareALogin(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "cache")
	one, two, stranger := seen.New(dir, "ada", nil), seen.New(dir, "ada", nil), seen.New(dir, "eve", nil)
	want(t, two.All("acme/shop"))
	first, second := entry("1", "First", noon.Add(-time.Hour)), entry("2", "Second", noon)
	one.Add("acme/shop", first)
	want(t, two.All("acme/shop"), first)
	two.Add("acme/shop", second)
	want(t, one.All("acme/shop"), second, first)
	newer := entry("1", "First, renamed", noon.Add(time.Minute))
	two.Add("acme/shop", newer)
	one.Add("acme/shop", first) // an older answer, told late
	want(t, one.All("acme/shop"), newer, second)
	want(t, two.All("acme/shop"), newer, second)
	want(t, stranger.All("acme/shop"))
	want(t, one.All("acme/other"))
	if info, err := os.Stat(file(t, dir)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

func TestNothingIsKeptNowhere(t *testing.T) {
	t.Parallel()
	none := seen.New("", "ada", nil)
	none.Add("acme/shop", entry("1", "First", noon))
	want(t, none.All("acme/shop"))
}

// A burst of the same answer costs one line.
func TestSameAnswerIsNotWrittenAgain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := seen.New(dir, "ada", nil)
	for i := range 50 {
		l.Add("acme/shop", entry("1", "First", noon.Add(time.Duration(i)*time.Second)))
	}
	text, err := os.ReadFile(file(t, dir))
	if n := strings.Count(string(text), "\n"); err != nil || n != 1 {
		t.Errorf("%d lines, %v", n, err)
	}
	l.Add("acme/shop", entry("1", "First", noon.Add(time.Hour)))
	want(t, l.All("acme/shop"), entry("1", "First", noon.Add(time.Hour)))
}

// Lines that are not entries are skipped, and an unfinished line is read later.
func TestDamage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	one := seen.New(dir, "ada", nil)
	first := entry("1", "First", noon)
	one.Add("acme/shop", first)
	path := file(t, dir)
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	fmt.Fprintf(f, "rubbish\n{\"key\":\"\"}\n[1]\n{\"key\":\"2\",\"title\":\"Sec")
	two := seen.New(dir, "ada", nil)
	want(t, two.All("acme/shop"), first)
	fmt.Fprintf(f, "ond\",\"as_of\":%q}\n", noon.Add(time.Second).Format(time.RFC3339))
	want(t, two.All("acme/shop"), seen.Entry{Key: "2", Title: "Second", AsOf: noon.Add(time.Second)}, first)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	want(t, two.All("acme/shop"))
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	two.Add("acme/shop", first)
	want(t, seen.New(dir, "ada", nil).All("acme/shop"))
}

// However much is seen, the file is bounded, and has the latest.
func TestBounded(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l, other := seen.New(dir, "ada", nil), seen.New(dir, "ada", nil)
	for round := range 7 {
		var batch []seen.Entry
		for i := range 1000 {
			n := round*1000 + i
			batch = append(batch, entry(fmt.Sprint(n), strings.Repeat("ü", 400), noon.Add(time.Duration(n)*time.Second)))
		}
		l.Add("acme/shop", batch...)
		other.All("acme/shop")
	}
	info, err := os.Stat(file(t, dir))
	if err != nil || info.Size() > 3<<20 {
		t.Fatalf("%v, %v", info.Size(), err)
	}
	for _, lists := range []*seen.Lists{l, other, seen.New(dir, "ada", nil)} {
		got := lists.All("acme/shop")
		if len(got) < 5000 || got[0].Key != "6999" || len(got[0].Title) != 300 {
			t.Errorf("%d entries, first %+v", len(got), got[0])
		}
	}
}

// An entry with a secret is not stored.
func TestSecretsAreNotStored(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := seen.New(dir, "ada", func(text string) bool { return strings.Contains(text, "top-secret") })
	l.Add("acme/shop", seen.Entry{Key: "1", Title: "fine"}, seen.Entry{Key: "2", Title: "it is top-secret"}, seen.Entry{Key: "3", Branch: "top-secret"})
	if all := l.All("acme/shop"); len(all) != 1 || all[0].Key != "1" {
		t.Errorf("got %v", all)
	}
}
