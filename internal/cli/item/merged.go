package item

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/local"
	"github.com/copse-dev/copse/internal/remote"
	"github.com/copse-dev/copse/internal/wiring"
	"github.com/copse-dev/copse/internal/workflow/pull"
)

// prMerged is the mark of an open item whose pull request is merged.
const prMerged = "merged"

// merged returns which of the listed items are open although their pull request is
// merged. It asks no service: it uses the answers that are in the cache.
func (c cli) merged(ctx context.Context, s *local.Store, config item.Config, list []*item.Summary) (map[item.ID]item.Link, error) {
	links, err := s.Links(ctx)
	if err != nil || len(links) == 0 {
		return nil, err
	}
	found := map[item.ID]item.Link{}
	sources := wiring.New(wiring.Options{Env: c.env})
	cached := remote.WithCachedOnly(ctx)
	for _, it := range list {
		l := links[it.ID]
		if l.PullRequest == "" || config.Done(it.Status) {
			continue
		}
		repository, number, ok := strings.Cut(l.PullRequest, "#")
		if !ok {
			repository, number = "", l.PullRequest
		}
		n, err := strconv.Atoi(number)
		if err != nil {
			continue
		}
		pr, err := sources.Pulls.Get(cached, pull.Ref{Repository: repository, Number: n})
		if err == nil && pr.Merged {
			found[it.ID] = l
		}
	}
	return found, nil
}

// sayMerged names on stderr the listed items whose pull request is merged.
func (c cli) sayMerged(merged map[item.ID]item.Link, list []*item.Summary) {
	for _, it := range list {
		if l, ok := merged[it.ID]; ok {
			fmt.Fprintf(c.env.Stderr, "#%d: pull request %s is merged, and the item is still %s\n", it.ID, cleantext.Line(l.PullRequest), cleantext.Line(it.Status))
		}
	}
}
