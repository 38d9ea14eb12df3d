package gitmerge

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/copse-dev/copse/internal/item/gitmerge/commits"
	"github.com/copse-dev/copse/internal/item/merge"
)

// maxCommits is the number of examined commits: the latest ones.
const maxCommits = 500

// Past is the commits of HEAD since another one, as far as they change the files of a store. Its methods
// share what they ask git.
type Past struct {
	repo *Repo
	// head is the current commit, since the one that it must not contain, "" for none.
	head, since string
	// extra are commits that no ref may have.
	extra []string
	log   func() (commits.Log, error)
	// nearby are the candidates for all commits of the log.
	nearby func() (map[*commits.Commit][]candidate, error)
}

// Past returns the commits after since, which can be "".
func (r *Repo) Past(ctx context.Context, since string) (*Past, error) {
	// The last fetched commit has no other name, if it was fetched by a path.
	known, err := r.commits(ctx, "HEAD", since, "FETCH_HEAD", "ORIG_HEAD")
	if err != nil {
		return nil, err
	}
	p := &Past{repo: r, head: known[0], since: known[1], extra: known[2:]}
	p.log = sync.OnceValues(func() (commits.Log, error) {
		if p.head == "" || p.head == p.since {
			return commits.Log{Whole: true}, nil
		}
		return r.log(ctx, p.head, p.since, maxCommits, []string{merge.ItemsDir, merge.TrashDir})
	})
	p.nearby = sync.OnceValues(func() (map[*commits.Commit][]candidate, error) {
		log, err := p.log()
		var made []*commits.Commit
		for _, c := range log.Changes {
			made = append(made, c.Commit)
		}
		if err != nil || len(made) == 0 {
			return nil, err
		}
		return r.candidates(ctx, made, p.extra)
	})
	return p, nil
}

// Head returns the current commit, "" before the first one.
func (p *Past) Head() string { return p.head }

// log reads the latest commits up to head that change files in directories of the store.
func (r *Repo) log(ctx context.Context, head, since string, limit int, directories []string, options ...string) (commits.Log, error) {
	paths := make([]string, len(directories))
	for i, directory := range directories {
		paths[i] = strings.TrimSuffix(r.prefix+directory, "/")
	}
	return commits.Read(ctx, r.git.Program(), head, since, limit, paths, options...)
}

// made returns the commits that change files in a directory, the latest first, and their originals.
func (p *Past) made(ctx context.Context, directory string) ([]*commits.Commit, map[*commits.Commit][]string, error) {
	log, err := p.log()
	search := p.nearby
	if err == nil && !log.Whole {
		log, err = p.repo.log(ctx, p.head, p.since, maxCommits, []string{directory}, "--no-merges")
		search = func() (map[*commits.Commit][]candidate, error) {
			return p.repo.candidates(ctx, log.Plain(p.repo.prefix+directory), p.extra)
		}
	}
	if err != nil {
		return nil, nil, err
	}
	made := log.Plain(p.repo.prefix + directory)
	originals, err := p.repo.originals(ctx, made, search)
	return made, originals, err
}

// merges returns the latest merges of two commits that change files in a directory, the oldest first, and
// for each the paths that are other than in both.
func (p *Past) merges(ctx context.Context, directory string) (merges [][]string, paths map[string][]string, err error) {
	log, err := p.log()
	if err == nil && !log.Whole {
		log, err = p.repo.log(ctx, p.head, p.since, maxMerges, []string{directory}, "--merges")
	}
	if err != nil {
		return nil, nil, err
	}
	paths = map[string][]string{}
	first := map[string][]string{}
	for _, c := range log.Changes {
		in := c.In(p.repo.prefix + directory)
		if len(c.Parents) != 2 || len(in) == 0 {
			continue
		}
		hash := c.Hash
		if before, again := first[hash]; again {
			paths[hash] = slices.DeleteFunc(in, func(path string) bool { return !slices.Contains(before, path) })
		} else if len(first) < maxMerges {
			first[hash] = in
			merges = append(merges, c.Hashes())
		}
	}
	slices.Reverse(merges)
	return merges, paths, nil
}
