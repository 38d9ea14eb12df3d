package lockedstore_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/copse-dev/copse/internal/lockedstore"
	"github.com/copse-dev/copse/internal/lockedstore/lockedstoretest"
)

// All contents are on disk before the first file is put in place, files are put in place
// in the order given, and what Change has returned for has its names on disk.
func TestOrderOnDisk(t *testing.T) {
	t.Parallel()
	var disk lockedstoretest.Recorder
	store := lockedstore.New(t.TempDir(), ".lock", time.Second)
	store.On(&disk)
	err := store.Change(t.Context(), func(tx *lockedstore.Tx) error {
		if err := tx.MakeDir("sub"); err != nil {
			return err
		}
		if err := tx.Write(lockedstore.File{Name: "b"}, lockedstore.File{Name: "sub/c"}, lockedstore.File{Name: "a"}); err != nil {
			return err
		}
		if err := tx.Flush(); err != nil {
			return err
		}
		if err := tx.Move("a", "sub/a"); err != nil {
			return err
		}
		return tx.Remove("b")
	})
	if err != nil {
		t.Fatal(err)
	}
	const want = `content a
content b
content sub/c
put b
put sub/c
put a
names .
names sub
move a sub/a
remove b
names .
names sub
`
	if diff := cmp.Diff(want, disk.Steps()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// The same for a file of another program, such as the configuration of an MCP client.
func TestReplaceOrderOnDisk(t *testing.T) {
	t.Parallel()
	var disk lockedstoretest.Recorder
	path := filepath.Join(t.TempDir(), "config.json")
	if err := lockedstore.ForeignAt(path).On(&disk).Replace(nil, []byte("{}")); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("content config.json\nput config.json\nnames .\n", disk.Steps()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
