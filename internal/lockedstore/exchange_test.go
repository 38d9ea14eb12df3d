package lockedstore_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/copse-dev/copse/internal/lockedstore"
)

// interrupted is a disk on which another program acts right before a step.
type interrupted struct {
	lockedstore.System

	exchanges []func() // before the first exchange, before the second, and so on
	link      func()
	flat      bool // the file system can neither exchange nor link files
}

func (d *interrupted) Exchange(root *os.Root, one, other string) error {
	if len(d.exchanges) > 0 {
		d.exchanges[0]()
		d.exchanges = d.exchanges[1:]
	}
	if d.flat {
		return errors.ErrUnsupported
	}
	return d.System.Exchange(root, one, other)
}

func (d *interrupted) Link(root *os.Root, old, name string) error {
	if d.link != nil {
		d.link()
	}
	if d.flat {
		return errors.ErrUnsupported
	}
	return d.System.Link(root, old, name)
}

// shared is a disk whose file system ignores permissions.
type shared struct{ lockedstore.System }

func (shared) Private(file *os.File) error {
	return errors.Join(file.Chmod(0o644), lockedstore.System{}.Private(file))
}

// A file system without permissions never gets a private content.
func TestPrivateWithoutPermissions(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("modes mean nothing here")
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "config.json")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	file := lockedstore.ForeignAt(path).On(shared{})
	if err := file.Private().Replace([]byte("old"), []byte("token")); !errors.Is(err, lockedstore.ErrShared) {
		t.Errorf("Replace returned %v", err)
	}
	store := lockedstore.New(dir, ".lock", patience)
	store.On(shared{})
	if err := store.Change(t.Context(), func(tx *lockedstore.Tx) error {
		return tx.Write(lockedstore.File{Name: "token", Data: []byte("token"), Private: true})
	}); !errors.Is(err, lockedstore.ErrShared) {
		t.Errorf("Write returned %v", err)
	}
	left, err := os.ReadDir(dir)
	for _, e := range left {
		data, _ := os.ReadFile(filepath.Join(dir, e.Name()))
		if strings.Contains(string(data), "token") {
			t.Errorf("%s has the token", e.Name())
		}
	}
	if err != nil || len(left) != 2 { // the lock, too
		t.Errorf("%d files, %v", len(left), err)
	}
	if err := file.Replace([]byte("old"), []byte("new")); err != nil {
		t.Error("a file that others may read:", err)
	}
}

// Whatever another program puts in place at the last moment stays.
func TestReplaceAtTheLastMoment(t *testing.T) {
	t.Parallel()
	exchanging(t)
	const old, ours, theirs, newer = "old", "ours", "theirs", "newer"
	dir := t.TempDir()
	path := filepath.Join(dir, "config.json")
	put := func(text string) func() {
		return func() {
			if err := errors.Join(os.WriteFile(path+".edit", []byte(text), 0o640), os.Rename(path+".edit", path)); err != nil {
				t.Error(err)
			}
		}
	}
	remove := func() { _ = os.Remove(path) }
	link := func() {
		remove()
		if err := os.Symlink("elsewhere", path); err != nil {
			t.Error(err)
		}
	}
	directory := func() {
		remove()
		if err := os.Mkdir(path, 0o755); err != nil {
			t.Error(err)
		}
	}
	for name, tt := range map[string]struct {
		disk  interrupted
		begin string // "" is a missing file
		want  string // "" is a missing file
		err   error
	}{
		"nobody":                      {begin: old, want: ours},
		"nobody, and no exchange":     {disk: interrupted{flat: true}, begin: old, want: ours},
		"nobody, and no file":         {want: ours},
		"nobody, no file and no link": {disk: interrupted{flat: true}, want: ours},
		"an edit":                     {disk: interrupted{exchanges: []func(){put(theirs)}}, begin: old, want: theirs, err: lockedstore.ErrChanged},
		"an edit, and no exchange":    {disk: interrupted{flat: true, exchanges: []func(){put(theirs)}}, begin: old, want: theirs, err: lockedstore.ErrChanged},
		"the same content":            {disk: interrupted{exchanges: []func(){put(old)}}, begin: old, want: ours},
		"an edit, and one of ours":    {disk: interrupted{exchanges: []func(){put(theirs), put(newer)}}, begin: old, want: newer, err: lockedstore.ErrChanged},
		"three edits":                 {disk: interrupted{exchanges: []func(){put(theirs), put(theirs), put(newer)}}, begin: old, want: newer, err: lockedstore.ErrChanged},
		"a new file":                  {disk: interrupted{link: put(theirs)}, want: theirs, err: lockedstore.ErrChanged},
		"a removed file":              {disk: interrupted{exchanges: []func(){remove}}, begin: old, err: lockedstore.ErrChanged},
		"an edit, and then removed":   {disk: interrupted{exchanges: []func(){put(theirs), remove}}, begin: old, err: lockedstore.ErrChanged},
		"a link":                      {disk: interrupted{exchanges: []func(){link}}, begin: old, want: "-> elsewhere", err: lockedstore.ErrChanged},
		"a directory":                 {disk: interrupted{exchanges: []func(){directory}}, begin: old, want: "a directory", err: lockedstore.ErrChanged},
	} {
		_ = os.RemoveAll(path)
		var before []byte
		if tt.begin != "" {
			put(tt.begin)()
			before = []byte(tt.begin)
		}
		err := lockedstore.ForeignAt(path).On(&tt.disk).Replace(before, []byte(ours))
		if !errors.Is(err, tt.err) {
			t.Errorf("%s: got %v, want %v", name, err, tt.err)
		}
		if got := at(path); got != tt.want {
			t.Errorf("%s: the file has %q, want %q", name, got, tt.want)
		}
		if left, _ := filepath.Glob(filepath.Join(dir, ".*")); len(left) > 0 {
			t.Errorf("%s: left behind: %q", name, left)
		}
	}
}

// at describes the file at a path.
func at(path string) string {
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return ""
	case info.IsDir():
		return "a directory"
	case info.Mode()&os.ModeSymlink != 0:
		target, _ := os.Readlink(path)
		return "-> " + target
	}
	data, _ := os.ReadFile(path)
	return string(data)
}

// exchanging skips a test where files cannot change places.
func exchanging(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for _, name := range []string{"one", "other"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := (lockedstore.System{}).Exchange(root, "one", "other"); errors.Is(err, errors.ErrUnsupported) {
		t.Skip("this system, or its file system, cannot exchange files")
	} else if err != nil {
		t.Fatal(err)
	}
}

// Another program that counts in a file, and replaces it without looking, loses no count to
// two processes of ours.
func TestReplaceLosesNoEdit(t *testing.T) {
	t.Parallel()
	exchanging(t)
	dir := t.TempDir()
	path := filepath.Join(dir, "count")
	if err := os.WriteFile(path, []byte("0"), 0o600); err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	var replaced [2]int
	done := make(chan struct{})
	for i := range replaced {
		go func() {
			defer func() { done <- struct{}{} }()
			file := lockedstore.ForeignAt(path)
			for {
				select {
				case <-stop:
					return
				default:
				}
				// What a process of ours writes keeps the count, and is as long as its number.
				old, err := file.Read()
				if err == nil {
					err = file.Replace(old, append(old, byte(' ')))
				}
				if err == nil {
					replaced[i]++
				} else if !errors.Is(err, lockedstore.ErrChanged) && !errors.Is(err, os.ErrNotExist) {
					t.Error(err)
				}
			}
		}()
	}
	for want := range 2000 {
		if want%50 == 0 {
			time.Sleep(10 * time.Millisecond) // for ours to get through
		}
		// A moment after an edit, it may be out of place.
		var text []byte
		count := -1
		for attempt := 0; count != want; attempt++ {
			var err error
			if text, err = os.ReadFile(path); err != nil {
				t.Fatal(err)
			}
			if _, err := fmt.Sscan(string(text), &count); err != nil || count != want && attempt == 1000 {
				t.Fatalf("the count is %.10q, want %d: an edit was lost", text, want)
			}
			if count != want {
				time.Sleep(time.Millisecond)
			}
		}
		if err := errors.Join(os.WriteFile(path+".edit", []byte(strconv.Itoa(count+1)), 0o600), os.Rename(path+".edit", path)); err != nil {
			t.Fatal(err)
		}
	}
	close(stop)
	for range replaced {
		<-done
	}
	if replaced[0]+replaced[1] == 0 {
		t.Error("nothing of ours got through")
	}
	t.Logf("%v replacements", replaced)
}
