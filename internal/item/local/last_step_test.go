package local_test

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/local"
	"github.com/copse-dev/copse/internal/item/local/location"
	"github.com/copse-dev/copse/internal/lockedstore"
)

// stuck is a disk that cannot remove the record of a deletion.
type stuck struct{ lockedstore.System }

func (stuck) Remove(root *os.Root, name string) error {
	if strings.HasSuffix(name, "pending.json") {
		return errors.New("input/output error")
	}
	return root.Remove(name)
}

// A deletion whose record cannot be removed is done. The next change says what is wrong.
func TestLastStepFails(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s := local.New(location.Search{Dir: project(t)}, time.Now)
	t.Cleanup(func() { s.Close() })
	for _, title := range []string{"One", "Two"} {
		if _, err := s.Create(ctx, item.Draft{Title: title}); err != nil {
			t.Fatal(err)
		}
	}
	local.On(s, stuck{})
	if err := s.Delete(ctx, 1, "", false); err != nil {
		t.Errorf("item 1 is deleted, but got %v", err)
	}
	if err := s.Delete(ctx, 2, "", false); err == nil || !strings.Contains(err.Error(), "input/output error") {
		t.Errorf("got %v", err)
	}
	local.On(s, lockedstore.System{})
	if err := s.Delete(ctx, 2, "", false); err != nil {
		t.Error(err)
	}
	if deleted, _, err := s.Deleted(ctx); err != nil || len(deleted) != 2 {
		t.Errorf("got %v, %v", deleted, err)
	}
}
