package recipe

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/copse-dev/copse/internal/xec"
)

// program returns the path of just. One in the project does not count, although its recipes find the
// project's programs. The error is a [NotInstalledError], or says why just does not start.
func (j *Justfile) program() (string, error) {
	path, err := j.names().LookPath("just")
	if err != nil {
		skipped, _ := j.env.LookPath("just")
		return "", j.explain(err, skipped)
	}
	return binary(path), nil
}

// binary returns the program that npm's launcher of just starts, or path itself if it is another
// program. The launcher changes arguments that look like numbers, such as 1.10, and takes longer to
// start than just to run.
func binary(path string) string {
	real, err := filepath.EvalSymlinks(path)
	if err != nil || !strings.HasSuffix(filepath.ToSlash(real), "/rust-just/lib/index.mjs") {
		return path
	}
	launcher := filepath.Dir(filepath.Dir(real))
	arch := map[string]string{"amd64": "x64", "386": "ia32"}[runtime.GOARCH]
	if arch == "" {
		arch = runtime.GOARCH
	}
	for _, modules := range []string{filepath.Join(launcher, "node_modules"), filepath.Dir(launcher)} {
		found, _ := filepath.Glob(filepath.Join(modules, fmt.Sprintf("rust-just-%s-%s*", runtime.GOOS, arch), "bin", "just"))
		for _, program := range found {
			if program, err := (xec.Env{}).LookPath(program); err == nil {
				return program
			}
		}
	}
	return path
}
