package sidebranch

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/copse-dev/copse/internal/xec"
)

// rewriting is url.<base>.insteadOf, or url.<base>.pushInsteadOf, of the user's configuration.
type rewriting struct {
	base, prefix string
	push         bool
}

// rewritings returns the rules of the user's configuration.
func (b *Branch) rewritings(ctx context.Context) ([]rewriting, error) {
	if b.rules != nil {
		return *b.rules, nil
	}
	out, err := b.git(ctx, nil, "config", "--null", "--get-regexp", `^url\..*\.(push)?insteadof$`)
	if exit, ok := errors.AsType[*xec.ExitError](err); err != nil && (!ok || exit.Code != 1) { // 1: there are none
		return nil, fmt.Errorf("read your rules url.*.insteadOf: %w", err)
	}
	var rules []rewriting
	for entry := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		key, prefix, _ := strings.Cut(entry, "\n")
		key = strings.TrimPrefix(key, "url.")
		if base, ok := strings.CutSuffix(key, ".pushinsteadof"); ok {
			rules = append(rules, rewriting{base, prefix, true})
		} else if base, ok := strings.CutSuffix(key, ".insteadof"); ok {
			rules = append(rules, rewriting{base, prefix, false})
		}
	}
	b.rules = &rules
	return rules, nil
}

// rewritten returns what git makes of an address.
func rewritten(rules []rewriting, address string, push bool) string {
	longest := -1
	result := address
	for _, r := range rules {
		if rest, ok := strings.CutPrefix(address, r.prefix); ok && r.push == push && len(r.prefix) > longest {
			longest, result = len(r.prefix), r.base+rest
		}
	}
	if push && longest < 0 {
		return rewritten(rules, address, false)
	}
	return result
}

// asIs returns an address, and options with which git does not rewrite it.
func asIs(rules []rewriting, address string, push bool) (same string, options []string, err error) {
	if rewritten(rules, address, push) == address {
		return address, nil, nil
	}
	if strings.Contains(address, "=") {
		return "", nil, errors.New("its address contains =, and url.*.insteadOf in your configuration rewrites it again; use another form of the address")
	}
	for _, r := range rules {
		if r.prefix == address {
			address += "/" // the longest prefix counts
			break
		}
	}
	return address, []string{"-c", "url." + address + ".insteadOf=" + address, "-c", "url." + address + ".pushInsteadOf=" + address}, nil
}
