//go:build !race

// The race detector makes these tests of texts ten times slower, and finds nothing in them: CI runs them
// with the plain test command only.

package copse_test

import (
	"bytes"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// A package has one job, which about 100 to 350 lines can do. These are the limits beyond
// which it has too much of it, or too little to be one.
const (
	fewestLines = 60
	mostLines   = 1300
)

// sizes are the packages outside the limits: up to how many lines, and why they stay together,
// or apart. Split one that grows beyond its own limit.
var sizes = map[string]struct {
	most int
	why  string
}{
	"internal/spread":                 {60, "four packages divide work over goroutines, and none of them is the place for it"},
	"internal/wholefile":              {60, "five packages replace files of a cache, and none of them is the place for it"},
	"internal/lazyregexp":             {60, "twenty packages have regular expressions, and none of them is the place for it"},
	"internal/stackroom":              {60, "it must import nothing, so that it is initialized before other packages"},
	"internal/hostenv":                {120, "both the programs and the tests need it before anything else runs"},
	"internal/cli/progress":           {60, "what shows progress must not know what it shows"},
	"internal/branch/source/pullbase": {60, "a source is a package"},
	"internal/workflow/tasks": {
		120, "the layer that surfaces ask; what a task may do is decided in recipe",
	},
	"internal/board":             {1400, "one protocol between the server and an open page: the address, the content, and the stream"},
	"internal/cli/branch":        {1500, "the commands of one noun, which find a repository and complete branches in one way"},
	"internal/git":               {1410, "one method each of the one value that reads a repository"},
	"internal/github/githubtest": {1500, "one server with the routes of one API"},
	"internal/item/gitmerge":     {1450, "one merge that git has open, from reading it to finishing it"},
	"internal/item/itemtest":     {1500, "one contract: what holds for items, claims and histories"},
}

func TestPackagesHaveOneJob(t *testing.T) {
	t.Parallel()
	lines := map[string]int{}
	err := filepath.WalkDir("internal", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return err
		}
		text, err := os.ReadFile(name)
		dir := path.Dir(filepath.ToSlash(name))
		if !within(module+"/"+dir, "internal/test") {
			lines[dir] += bytes.Count(text, []byte("\n"))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for dir, n := range lines {
		limits, excepted := sizes[dir]
		switch {
		case excepted && n > limits.most:
			t.Errorf("%s has %d lines, more than the %d that it was allowed because %q: split it", dir, n, limits.most, limits.why)
		case !excepted && n > mostLines:
			t.Errorf("%s has %d lines, more than %d: split it", dir, n, mostLines)
		case !excepted && n < fewestLines:
			t.Errorf("%s has %d lines, fewer than %d: make it a part of the package that needs it", dir, n, fewestLines)
		}
	}
	for dir := range sizes {
		if lines[dir] == 0 {
			t.Errorf("%s is excepted and does not exist: remove the exception", dir)
		}
	}
}
