package git

import (
	"context"
	"os"
	"path/filepath"

	"github.com/copse-dev/copse/internal/git/discovery"
	"github.com/copse-dev/copse/internal/git/program"
	"github.com/copse-dev/copse/internal/xec"
)

// Aside returns the git program for another git directory, which borrows this repository's objects:
// the directory's file objects/info/alternates names [Repo.Objects]. Neither this repository's
// configuration nor the user's applies there, so no hook, filter, or merge driver is known. Git
// does not start if it would wait for one of this repository's files.
func (r *Repo) Aside(dir string) program.Git {
	env := r.env.With(
		"GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_CONFIG_COUNT=0", "GIT_ATTR_NOSYSTEM=1",
	)
	return program.New(program.Repository{Dir: dir, Bare: true}, func() xec.Env { return r.Environ(env) }, aside{r.guard})
}

// Objects returns the directory of the repository's objects.
func (r *Repo) Objects() string { return filepath.Join(r.at.CommonDir, "objects") }

// aside protects git in another directory from the files of a repository.
type aside struct{ *guard }

func (a aside) Settings(context.Context) ([]string, error) {
	if err := a.checker.Check(a.layout(nil)); err != nil {
		return nil, discovery.Unreadable(a.repo.at.GitDir, err)
	}
	return []string{"core.attributesFile=" + os.DevNull}, nil
}
