// Package launcher finds the program just that a launcher of that name starts: a script of npm or pnpm, or
// a shim of a version manager.
//
// Use [Found.Find] with the path that a lookup returns. The launcher itself is asked, so it must be one
// that may start.
package launcher

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/copse-dev/copse/internal/regular"
	"github.com/copse-dev/copse/internal/tempdir"
	"github.com/copse-dev/copse/internal/xec"
)

// Found is what the last launcher starts. It is safe for concurrent use.
type Found struct {
	mu                sync.Mutex
	launcher, program string
}

// Find returns the program that the launcher at path starts in an environment; path itself if that
// starts no other program, or does not say.
func (f *Found) Find(ctx context.Context, path string, env xec.Env) string {
	if !launches(path) {
		return path
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.launcher == path {
		if program, err := env.LookPath(f.program); err == nil {
			return program
		}
	}
	f.launcher, f.program = path, behind(ctx, path, env)
	return f.program
}

// timeout is how long a launcher may take to answer.
const timeout = 10 * time.Second

// maxProgram is the size of the largest program that can be examined.
const maxProgram = 1 << 30

// launches reports whether a program named just is a launcher of another one: a script, or a link to a
// program of another name.
func launches(path string) bool {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return false // it does not start
	}
	if name := filepath.Base(real); name != filepath.Base(path) {
		return true
	}
	file, err := regular.Open(real, maxProgram)
	if err != nil {
		return false
	}
	defer file.Close()
	begin := make([]byte, 2)
	_, _ = file.Read(begin)
	return string(begin) == "#!"
}

// behind returns the program that a launcher starts, or the launcher if that does not say. That of npm's
// package rust-just changes arguments that look like numbers, such as 1.10, and each takes longer to
// start than just to run.
func behind(ctx context.Context, launcher string, env xec.Env) string {
	made, err := tempdir.New("copse-just-")
	if err != nil {
		return launcher
	}
	defer made.Close()
	file := filepath.Join(made.Path, "justfile")
	if err := os.WriteFile(file, []byte("program := just_executable()\n"), 0o600); err != nil {
		return launcher
	}
	res, err := xec.Run(ctx, xec.Command{
		Name: launcher, Env: env, Timeout: timeout, MaxOutput: 1 << 16,
		Args: []string{"--justfile", file, "--working-directory", made.Path, "--color", "never", "--evaluate", "program"},
	})
	if err != nil {
		return launcher
	}
	path := strings.TrimSpace(string(res.Stdout))
	if !filepath.IsAbs(path) {
		return launcher
	}
	if found, err := env.LookPath(path); err == nil {
		return found
	}
	return launcher
}
