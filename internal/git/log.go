package git

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/copse-dev/copse/internal/git/porcelain"
	"github.com/copse-dev/copse/internal/regular"
)

// Commit is one commit of a history.
type Commit = porcelain.Commit

// Log returns the last n commits of HEAD, the newest first, with their files, except deleted ones;
// none on an unborn branch.
func (r *Repo) Log(ctx context.Context, n int) ([]Commit, error) {
	return read(r, func() ([]Commit, error) {
		head, err := r.Refs().Head(ctx)
		if err != nil {
			return nil, fmt.Errorf("read history: %w", err)
		}
		if head.Unborn {
			return nil, nil
		}
		out, err := r.program.Run(ctx, "log", "-z", "--no-color", "--no-show-signature", "--max-count="+strconv.Itoa(n), porcelain.LogFormat,
			"--name-status", "--no-renames", "--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty", "HEAD", "--")
		if err != nil {
			return nil, fmt.Errorf("read history: %w", err)
		}
		commits, hashes, err := porcelain.ParseLog(string(out))
		if err != nil {
			return nil, err
		}
		boundary := string(r.Boundary())
		for i, hash := range hashes {
			if boundary != "" && strings.Contains(boundary, hash) {
				commits[i].Boundary, commits[i].Files = true, nil
			}
		}
		return commits, nil
	})
}

// maxBoundary is the maximum size of the list of commits where the history of a shallow clone ends.
const maxBoundary = 16 << 20

// Boundary returns the hashes of the commits where the history of a shallow clone ends, one on each
// line; none if the clone has all of its history.
func (r *Repo) Boundary() []byte {
	text, err := regular.Read(filepath.Join(r.at.CommonDir, "shallow"), maxBoundary)
	if err != nil {
		return nil
	}
	return text
}
