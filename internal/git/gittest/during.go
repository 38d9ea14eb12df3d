package gittest

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"time"
)

// During replaces git in the environment: a run whose arguments contain sub calls do, and begins its
// work when do has returned. The function that During returns reports how many such runs there were.
func (g *Git) During(sub string, do func()) func() int {
	g.TB.Helper()
	if runtime.GOOS == "windows" {
		g.TB.Skip("needs a shell script in the place of git")
	}
	real, err := g.Env.LookPath("git")
	if err != nil {
		g.TB.Fatal(err)
	}
	dir, signals := Dir(g.TB), Dir(g.TB)
	quote := func(path string) string { return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'" }
	script := `#!/bin/sh
for argument do
	if [ "$argument" = ` + quote(sub) + ` ]; then
		: > ` + quote(signals) + `/$$
		while [ -e ` + quote(signals) + `/$$ ]; do sleep 0.01; done
	fi
done
exec ` + quote(real) + ` "$@"
`
	if err := os.WriteFile(filepath.Join(dir, "git"), []byte(script), 0o755); err != nil {
		g.TB.Fatal(err)
	}
	g.Env = g.Env.With("PATH=" + dir + string(filepath.ListSeparator) + g.Env.Get("PATH"))
	var runs atomic.Int32
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ; g.TB.Context().Err() == nil; time.Sleep(time.Millisecond) {
			entries, err := os.ReadDir(signals)
			if err != nil {
				g.TB.Error(err)
				return
			}
			for _, e := range entries {
				runs.Add(1)
				do()
				_ = os.Remove(filepath.Join(signals, e.Name()))
			}
		}
	}()
	g.TB.Cleanup(func() { <-done })
	return func() int { return int(runs.Load()) }
}
