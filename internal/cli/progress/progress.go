// Package progress shows a person at a terminal that an operation takes a while. It prints nothing
// if stderr is not a terminal.
package progress

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/secret"
)

// patience is how long progress stays silent.
const patience = time.Second

// Show displays, after a second, the operation and its duration: "waiting for GitHub and Jira… 3 s", in
// a line that stop removes. The caller must stop it before it writes anything else to the terminal;
// stopping twice is harmless.
func Show(env app.Env, what string) (stop func()) {
	if file, ok := secret.Raw(env.Stderr).(*os.File); !ok || !term.IsTerminal(int(file.Fd())) || env.Getenv("TERM") == "dumb" {
		return func() {}
	}
	return run(env.Stderr, what, time.NewTicker(patience))
}

func run(w io.Writer, what string, tick *time.Ticker) (stop func()) {
	done, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		defer tick.Stop()
		start, shown := time.Now(), false
		for {
			select {
			case <-done:
				if shown {
					fmt.Fprint(w, "\r\x1b[K")
				}
				return
			case <-tick.C:
				shown = true
				fmt.Fprintf(w, "\r\x1b[K%s… %d s", cleantext.Line(what), max(1, int(time.Since(start).Seconds())))
			}
		}
	}()
	return sync.OnceFunc(func() {
		close(done)
		<-gone
	})
}
