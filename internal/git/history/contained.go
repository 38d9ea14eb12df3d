package history

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/copse-dev/copse/internal/git/program"
	"github.com/copse-dev/copse/internal/xec"
)

// Ground is the reason why a trunk has everything that was made on a branch. Nothing is lost with
// the branch then, but perhaps the steps in which it was made.
type Ground string

// The grounds.
const (
	// NotContained means that the trunk lacks something, or that git cannot tell.
	NotContained Ground = ""
	// AllCommits is that of a merge commit or a fast-forward.
	AllCommits Ground = "has all its commits"
	// OneCommit is that of a squash merge, and EachCommit that of a rebase merge.
	OneCommit  Ground = "has one commit with the same changes"
	EachCommit Ground = "has commits with the same changes"
	// SameFiles applies if the trunk has further changes, or if the changes came in several other commits.
	SameFiles Ground = "has the same content in each file that it changed"
)

// In returns the ground as a clause about the trunk of this name, "" for [NotContained].
func (g Ground) In(trunk string) string {
	if g == NotContained {
		return ""
	}
	return trunk + " " + string(g)
}

const (
	// maxSearched is the number of commits of each side to compare.
	maxSearched = 500
	// maxPaths is the size of the paths that fit the arguments of a program.
	maxPaths = 8 << 10
)

// Contained returns the ground on which the commit trunk has everything that the commit tip has. A
// tip without changes of its own has a ground only if it is an ancestor. Two runs of git show that
// most branches in progress are not contained; a branch whose files all changed in the trunk takes up
// to six.
func Contained(ctx context.Context, git program.Git, tip, trunk string) (Ground, error) {
	out, err := git.Run(ctx, "merge-base", trunk, tip, "--")
	if exit, ok := errors.AsType[*xec.ExitError](err); ok && exit.Code == 1 {
		return NotContained, nil // they share nothing
	}
	if err != nil {
		return NotContained, fmt.Errorf("compare commits: %w", err)
	}
	base, _, _ := strings.Cut(string(out), "\n")
	switch base {
	case tip:
		return AllCommits, nil
	case trunk:
		return NotContained, nil
	}
	c := comparison{git, tip, trunk, base}
	mine, err := c.changed(ctx, base, tip)
	if err != nil || len(mine) == 0 {
		return NotContained, err
	}
	if theirs, err := c.changed(ctx, base, trunk); err != nil || !within(mine, theirs) {
		return NotContained, err
	}
	if ground, err := c.samePatches(ctx, mine); err != nil || ground != NotContained {
		return ground, err
	}
	if differ, err := c.changed(ctx, tip, trunk); err != nil || overlap(mine, differ) {
		return NotContained, err
	}
	return SameFiles, nil
}

// comparison compares the commits tip and trunk, which both have base.
type comparison struct {
	git              program.Git
	tip, trunk, base string
}

// exact are options with which git shows each change as the commits have it, whatever its
// configuration says.
var exact = []string{ //nolint:gochecknoglobals // a constant
	"--no-color", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-relative", "--ignore-submodules=dirty", "--submodule=short",
}

// changed returns the paths in which two commits differ.
func (c comparison) changed(ctx context.Context, from, to string) (map[string]bool, error) {
	out, err := c.git.Run(ctx, append(append([]string{"diff", "--name-only", "-z"}, exact...), from, to, "--")...)
	if err != nil {
		return nil, fmt.Errorf("compare commits: %w", err)
	}
	paths := make(map[string]bool)
	for path := range strings.SplitSeq(string(out), "\x00") {
		if path != "" {
			paths[path] = true
		}
	}
	return paths, nil
}

func within(some, all map[string]bool) bool {
	for path := range some {
		if !all[path] {
			return false
		}
	}
	return true
}

func overlap(a, b map[string]bool) bool {
	for path := range a {
		if b[path] {
			return true
		}
	}
	return false
}

// samePatches compares the changes of the branch in paths, as a whole and by commit, with those that
// commits of the trunk made there.
func (c comparison) samePatches(ctx context.Context, paths map[string]bool) (Ground, error) {
	theirs, err := c.patches(ctx, c.tip+".."+c.trunk, paths)
	if err != nil {
		return NotContained, err
	}
	made := make(map[[sha256.Size]byte]bool, len(theirs))
	for _, p := range theirs {
		made[p.sum] = true
	}
	whole, err := c.show(ctx, "diff", c.base, c.tip)
	if err != nil {
		return NotContained, err
	}
	if all := patchesIn(append([]byte(mark+"\n"), whole...)); len(all) == 1 && made[all[0].sum] {
		return OneCommit, nil
	}
	own, err := c.patches(ctx, c.trunk+".."+c.tip, nil)
	if err != nil || len(own) == 0 || len(own) == maxSearched {
		return NotContained, err
	}
	for _, p := range own {
		if p.merge || !p.empty && !made[p.sum] {
			return NotContained, nil
		}
	}
	return EachCommit, nil
}

// patches returns the patches of the newest commits of a range, limited to paths, if they are few.
func (c comparison) patches(ctx context.Context, commits string, paths map[string]bool) ([]patch, error) {
	args := []string{"--no-show-signature", "--diff-merges=off", "--format=" + mark + "%P", "--max-count=" + strconv.Itoa(maxSearched), commits, "--"}
	size := 0
	for path := range paths {
		size += len(path) + 1
	}
	for path := range paths {
		if size <= maxPaths {
			args = append(args, path)
		}
	}
	out, err := c.show(ctx, "log", args...)
	if err != nil {
		return nil, err
	}
	return patchesIn(out), nil
}

// show runs a command that prints patches.
func (c comparison) show(ctx context.Context, command string, args ...string) ([]byte, error) {
	all := append([]string{"--literal-pathspecs", command, "--patch"}, exact...)
	all = append(all, "--full-index", "--unified=3", "--inter-hunk-context=0", "--src-prefix=a/", "--dst-prefix=b/")
	out, err := c.git.Run(ctx, append(all, args...)...)
	if err != nil {
		return nil, fmt.Errorf("compare patches: %w", err)
	}
	return out, nil
}

// mark begins the line before each patch; the parents of the commit follow. No line of a patch
// begins like this.
const mark = "commit "

// patch is the change of a commit.
type patch struct {
	// sum identifies the change, wherever in its files it is. Unlike git's patch ID, it depends on
	// white space and on the content of binary files.
	sum          [sha256.Size]byte
	empty, merge bool
}

// patchesIn returns the patches in the output of git.
func patchesIn(out []byte) []patch {
	var all []patch
	sum, empty := sha256.New(), true
	end := func() {
		if len(all) > 0 {
			last := &all[len(all)-1]
			last.sum, last.empty = [sha256.Size]byte(sum.Sum(nil)), empty
		}
		sum.Reset()
		empty = true
	}
	var index []byte
	for line := range bytes.Lines(out) {
		switch {
		case bytes.HasPrefix(line, []byte(mark)):
			end()
			all = append(all, patch{merge: len(bytes.Fields(line)) > 2})
			continue
		case bytes.HasPrefix(line, []byte("index ")):
			index = line // the hunks say as much
			continue
		case bytes.HasPrefix(line, []byte("@@")):
			line = []byte("@@\n")
		case bytes.HasPrefix(line, []byte("Binary files ")):
			sum.Write(index)
		case string(line) == "\n":
			continue // between a commit and its patch
		}
		empty = false
		sum.Write(line)
	}
	end()
	return all
}
