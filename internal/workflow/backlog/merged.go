package backlog

import (
	"context"
	"strconv"
	"strings"

	"github.com/copse-dev/copse/internal/github/pullrequest"
	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/remote"
	"github.com/copse-dev/copse/internal/workflow/pull"
)

// Linker is a store with links of its items.
type Linker interface {
	// Links returns the links of the items that have one.
	Links(ctx context.Context) (map[item.ID]item.Link, error)
}

// PullRequests reads pull requests.
type PullRequests interface {
	Get(ctx context.Context, ref pull.Ref) (pullrequest.PullRequest, error)
}

// Merged returns the links of those listed items that are open although their pull
// request is merged. It sends no request: it uses the answers in the cache.
func Merged(ctx context.Context, store Linker, pulls PullRequests, config item.Config, list []*item.Summary) (map[item.ID]item.Link, error) {
	links, err := store.Links(ctx)
	if err != nil || len(links) == 0 {
		return nil, err
	}
	merged := map[item.ID]item.Link{}
	for _, it := range list {
		if isMerged(ctx, links[it.ID], pulls, config, it) {
			merged[it.ID] = links[it.ID]
		}
	}
	return merged, nil
}

// Merges returns the result of Merged for one item at a time, for lists of which a page is shown:
// other items cost nothing.
func Merges(ctx context.Context, store Linker, pulls PullRequests, config item.Config) (func(*item.Summary) bool, error) {
	links, err := store.Links(ctx)
	return func(it *item.Summary) bool { return isMerged(ctx, links[it.ID], pulls, config, it) }, err
}

func isMerged(ctx context.Context, link item.Link, pulls PullRequests, config item.Config, it *item.Summary) bool {
	ref, ok := pullRef(link.PullRequest)
	if !ok || config.Done(it.Status) {
		return false
	}
	pr, err := pulls.Get(remote.WithCachedOnly(ctx), ref)
	return err == nil && pr.Merged
}

// pullRef returns the pull request of a link: "12" or "owner/name#12".
func pullRef(link string) (pull.Ref, bool) {
	repository, number, ok := strings.Cut(link, "#")
	if !ok {
		repository, number = "", link
	}
	n, err := strconv.Atoi(number)
	return pull.Ref{Repository: repository, Number: n}, err == nil
}
