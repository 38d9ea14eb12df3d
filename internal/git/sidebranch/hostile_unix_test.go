//go:build unix

package sidebranch_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/copse-dev/copse/internal/git/gittest"
	"github.com/copse-dev/copse/internal/git/sidebranch"
)

// Git at the other side does not wait for files that never end, and shows nothing of those
// that links and settings lead to.
func TestHostileRemote(t *testing.T) {
	t.Parallel()
	link := func(file string) func(t *testing.T, g *gittest.Git, remote, secret string) {
		return func(t *testing.T, _ *gittest.Git, remote, secret string) {
			path := filepath.Join(remote, file)
			_ = os.Remove(path)
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.Symlink(secret, path)); err != nil {
				t.Fatal(err)
			}
		}
	}
	pipe := func(file string) func(t *testing.T, g *gittest.Git, remote, secret string) {
		return func(t *testing.T, _ *gittest.Git, remote, _ string) {
			path := filepath.Join(remote, file)
			_ = os.Remove(path)
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), syscall.Mkfifo(path, 0o600)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for title, plant := range map[string]func(t *testing.T, g *gittest.Git, remote, secret string){
		"packed-refs is a link": link("packed-refs"), "shallow is a link": link("shallow"), "HEAD is a link": link("HEAD"),
		"config is a pipe": pipe("config"), "packed-refs is a pipe": pipe("packed-refs"), "a branch is a pipe": pipe("refs/heads/" + name),
		"the index of a pack is a pipe": pipe("objects/pack/pack-0123456789012345678901234567890123456789.idx"),
		"a list of objects": func(_ *testing.T, g *gittest.Git, remote, secret string) {
			for key, value := range map[string]string{"receive.fsckObjects": "true", "receive.fsck.skipList": secret, "receive.unpackLimit": "1"} {
				g.Run(remote, "config", key, value)
			}
		},
		"a repository in the repository": func(_ *testing.T, g *gittest.Git, remote, _ string) { g.Run(remote, "init", "-q", remote+"/.git/.git") },
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			g, clone, remote := repository(t)
			secret := filepath.Join(filepath.Dir(clone), "secret")
			gittest.Write(t, secret, "hunter2\n")
			plant(t, g, remote, secret)
			ctx, to := t.Context(), sidebranch.Remote{Fetch: remote}
			b := open(t, g, clone)
			first, err := b.Commit(ctx, sidebranch.Tree{"a.md": "a"}, "First")
			if err != nil {
				t.Fatal(err)
			}
			_, fetchErr := b.Fetch(ctx, to)
			for _, err := range []error{fetchErr, b.Push(ctx, to, first, "")} {
				if err != nil && strings.Contains(err.Error(), "hunter2") {
					t.Errorf("a file outside is shown: %v", err)
				}
				if errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("git waits: %v", err)
				}
			}
		})
	}
}

// The same for files of the repository itself.
func TestHostileObjects(t *testing.T) {
	t.Parallel()
	for _, file := range []string{
		"objects/info/alternates", "objects/info/commit-graph", "objects/pack/multi-pack-index", "shallow", "packed-refs", "refs/heads/" + name,
		"objects/pack/pack-0123456789012345678901234567890123456789.idx",
	} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			g, clone, _ := repository(t)
			b := open(t, g, clone)
			path := filepath.Join(clone, ".git", filepath.FromSlash(file))
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), syscall.Mkfifo(path, 0o600)); err != nil {
				t.Fatal(err)
			}
			commit, err := b.Commit(t.Context(), sidebranch.Tree{"a.md": "a"}, "First")
			if err == nil {
				err = b.Move(t.Context(), commit, "")
			}
			if errors.Is(err, context.DeadlineExceeded) || err == nil && !strings.HasPrefix(file, "objects/pack/pack-") { // git needs no such index
				t.Errorf("got error %v", err)
			}
		})
	}
}

// A pipe that is found only when git waits for it ends that run of git.
func TestHostileLooseObject(t *testing.T) {
	t.Parallel()
	g, clone, _ := repository(t)
	commit, err := open(t, g, clone).Commit(t.Context(), sidebranch.Tree{"a.md": "a"}, "First")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(clone, ".git", "objects", string(commit[:2]), string(commit[2:]))
	if err := errors.Join(os.Remove(path), syscall.Mkfifo(path, 0o600)); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if _, err := open(t, g, clone).Read(ctx, commit, everything, 1<<20); err == nil || ctx.Err() != nil {
		t.Errorf("got error %v", err)
	}
}
