package progress

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/copse-dev/copse/internal/app"
)

func TestShow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var b bytes.Buffer
		stop := run(&b, "asking\x1b[2J", time.NewTicker(patience))
		time.Sleep(patience / 2)
		stop()
		if b.Len() > 0 {
			t.Errorf("said %q of what took no time", b.String())
		}
		stop = run(&b, "asking", time.NewTicker(patience))
		time.Sleep(2*patience + patience/2)
		stop()
		stop()
		if got, want := b.String(), "\r\x1b[Kasking… 1 s\r\x1b[Kasking… 2 s\r\x1b[K"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

// Where nobody looks, nothing is said.
func TestShowNobody(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	Show(app.Env{Stderr: &b}, "asking")()
	if b.Len() > 0 {
		t.Errorf("said %q", b.String())
	}
}
