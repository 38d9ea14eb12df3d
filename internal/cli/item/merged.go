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

// sayMerged names on stderr the listed items that are open although their pull request
// is merged. It asks no service: it uses the answers that are in the cache.
func (c cli) sayMerged(ctx context.Context, s *local.Store, config item.Config, list []*item.Summary) error {
	links, err := s.Links(ctx)
	if err != nil || len(links) == 0 {
		return err
	}
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
			fmt.Fprintf(c.env.Stderr, "#%d: pull request %s is merged, and the item is still %s\n", it.ID, cleantext.Line(l.PullRequest), cleantext.Line(it.Status))
		}
	}
	return nil
}
