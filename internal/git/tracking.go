package git

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/copse-dev/copse/internal/git/refstore"
)

// Tracking compares a branch with its upstream.
type Tracking struct {
	// Upstream is the short name of the upstream; empty if there is none. Gone means that it is
	// configured but does not exist.
	Upstream string
	Gone     bool
	// Ahead and Behind count the commits that only the branch or only its upstream has.
	Ahead, Behind int
	// At is the time of the last commit of the branch.
	At time.Time
}

// Tracking compares local branches with their upstreams, by name, with the git program.
func (r *Repo) Tracking(ctx context.Context, branches []string) (map[string]Tracking, error) {
	if len(branches) == 0 {
		return nil, nil
	}
	return read(r, func() (map[string]Tracking, error) {
		args := []string{"for-each-ref", "--format=%(refname)%00%(upstream:short)%00%(upstream:track,nobracket)%00%(committerdate:unix)", "--"}
		for _, name := range branches {
			args = append(args, refstore.BranchPrefix+name)
		}
		out, err := r.program.Run(ctx, args...)
		if err != nil {
			return nil, fmt.Errorf("compare branches with their upstreams: %w", err)
		}
		found := map[string]Tracking{}
		for line := range strings.Lines(string(out)) {
			fields := strings.Split(strings.TrimSuffix(line, "\n"), "\x00")
			const parts = 4
			if len(fields) != parts {
				continue
			}
			t := Tracking{Upstream: fields[1], Gone: fields[2] == "gone"}
			for part := range strings.SplitSeq(fields[2], ", ") {
				word, number, _ := strings.Cut(part, " ")
				n, _ := strconv.Atoi(number) // 0 for "gone"
				switch word {
				case "ahead":
					t.Ahead = n
				case "behind":
					t.Behind = n
				}
			}
			if seconds, err := strconv.ParseInt(fields[3], 10, 64); err == nil {
				t.At = time.Unix(seconds, 0)
			}
			found[strings.TrimPrefix(fields[0], refstore.BranchPrefix)] = t
		}
		return found, nil
	})
}
