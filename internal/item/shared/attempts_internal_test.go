package shared

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/copse-dev/copse/internal/git/sidebranch"
)

// A remote can claim forever that somebody else was faster.
func TestAttempts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		attempts := 0
		err := exchanged(t.Context(), func() error { attempts++; return sidebranch.ErrMoved })
		if attempts != maxAttempts || err == nil || !strings.Contains(err.Error(), "100 times") {
			t.Errorf("%v after %d attempts", err, attempts)
		}
		attempts = 0
		err = exchanged(t.Context(), func() error {
			if attempts++; attempts < maxAttempts {
				return sidebranch.ErrMoved
			}
			return nil
		})
		if err != nil {
			t.Errorf("the last attempt succeeded: %v", err)
		}
	})
}
