package git_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/git/gittest"
	"github.com/copse-dev/copse/internal/test/otheruser"
)

// A repository of another account is refused, also from a directory of one's own below it, unless
// the user's configuration names it as safe.
func TestOtherAccount(t *testing.T) {
	t.Parallel()
	otheruser.Need(t)
	g := gittest.New(t)
	dir := g.Init()
	g.Commit(dir, "first")
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		return errors.Join(err, os.Lchown(path, otheruser.UID, otheruser.UID))
	})
	if err != nil {
		t.Fatal(err)
	}
	mine := filepath.Join(dir, "mine")
	if err := os.Mkdir(mine, 0o755); err != nil {
		t.Fatal(err)
	}
	look := func(from string, env ...string) error {
		_, err := git.Discover(context.Background(), from, git.Options{Env: g.Env.With(env...)})
		return err
	}
	for _, from := range []string{dir, mine} {
		if _, broken := errors.AsType[*git.BrokenError](look(from)); !broken {
			t.Errorf("%s: %v", from, look(from))
		}
		if err := look(from); !strings.Contains(err.Error(), "safe.directory") {
			t.Errorf("%v does not name the way out", err)
		}
	}
	if err := look(dir, "SUDO_UID=65534"); err != nil {
		t.Errorf("the account that called sudo: %v", err)
	}
	other := filepath.Dir(dir)
	for values, safe := range map[string]bool{
		"*": true, dir: true, other + "/*": true, "/nowhere": false, other: false, dir + "x": false,
		dir + "|": false, "|" + dir: true, "*||/nowhere": false,
	} {
		config := ""
		for value := range strings.SplitSeq(values, "|") {
			config += "[safe]\n\tdirectory = \"" + value + "\"\n"
		}
		file := filepath.Join(gittest.Dir(t), "config")
		gittest.Write(t, file, config)
		if err := look(dir, "GIT_CONFIG_GLOBAL="+file); (err == nil) != safe {
			t.Errorf("safe.directory %q: %v", values, err)
		}
		if strings.HasSuffix(values, "/*") && !g.AtLeast(2, 46) {
			continue
		}
		// Git decides in the same way.
		if _, err := (&gittest.Git{TB: t, Env: g.Env.With("GIT_CONFIG_GLOBAL=" + file), Home: g.Home}).Try(dir, "status"); (err == nil) != safe {
			t.Errorf("safe.directory %q: git says %v", values, err)
		}
	}
	// The repository's own configuration does not count.
	g.Run(filepath.Dir(dir), "config", "--file", filepath.Join(dir, ".git", "config"), "safe.directory", "*")
	if err := look(dir); err == nil {
		t.Error("a repository calls itself safe")
	}
}
