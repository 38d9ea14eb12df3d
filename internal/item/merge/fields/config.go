package fields

import (
	"cmp"
	"slices"
	"strings"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/ticfile"
)

// Config merges configurations, which can be nil; the result is nil without any. What one side alone
// changed keeps all of its bytes.
func Config(base, ours, theirs *ticfile.Config) (*ticfile.Config, error) {
	switch {
	case ours == nil && theirs == nil:
		return nil, nil
	case ours == nil:
		return ticfile.ParseConfig(theirs.Text())
	case theirs == nil:
		return ticfile.ParseConfig(ours.Text())
	}
	list := []*ticfile.Config{ours, theirs}
	slices.SortFunc(list, func(a, b *ticfile.Config) int {
		unchanged := func(c *ticfile.Config) int {
			if base != nil && c.Text() == base.Text() {
				return 1
			}
			return 0
		}
		return cmp.Or(unchanged(a)-unchanged(b), cmp.Compare(b.Text(), a.Text()))
	})
	merged, err := ticfile.ParseConfig(list[0].Text())
	if err != nil {
		return nil, err
	}
	if base == nil {
		base = new(ticfile.Config)
	}
	return merged, mergeValues(merged, base, ours, theirs)
}

// mergeValues merges the values of configurations into one of them.
func mergeValues(merged, base, ours, theirs *ticfile.Config) error {
	b, o, t := base.Values(), ours.Values(), theirs.Values()
	current, _ := Scalar(b.CurrentIteration, o.CurrentIteration, t.CurrentIteration, nil)
	err := merged.SetValues(item.Config{
		Types:            Set(b.Types, o.Types, t.Types, strings.Compare),
		Statuses:         Statuses(b.Statuses, o.Statuses, t.Statuses),
		Iterations:       Set(b.Iterations, o.Iterations, t.Iterations, strings.Compare),
		CurrentIteration: current,
	})
	if err != nil {
		return err
	}
	if err := merged.SetNextID(NextID(base, ours, theirs)); err != nil {
		return err
	}
	keys := slices.Concat(ours.RawKeys(), theirs.RawKeys())
	slices.Sort(keys)
	for _, key := range slices.Compact(keys) {
		raw := func(c *ticfile.Config) string {
			if c == base && base.Values().Types == nil {
				return ""
			}
			lines, _ := c.Raw(key)
			return lines
		}
		value, _ := Scalar(raw(base), raw(ours), raw(theirs), nil)
		if err := merged.SetRaw(key, value); err != nil {
			return err
		}
	}
	return nil
}

// NextID merges the number for the next item of configurations, which can be nil. Both sides raise it, and
// the larger one counts; a person can lower it on one side, to correct it.
func NextID(base, ours, theirs *ticfile.Config) item.ID {
	var next [3]item.ID
	for i, c := range []*ticfile.Config{base, ours, theirs} {
		if c != nil {
			next[i] = c.NextID()
		}
	}
	switch {
	case ours != nil && theirs != nil && next[0] == next[1]:
		return next[2]
	case ours != nil && theirs != nil && next[0] == next[2]:
		return next[1]
	}
	return max(next[1], next[2])
}

// Statuses merges the lists of statuses. The last one means done, so additions go before it.
func Statuses(base, ours, theirs []string) []string {
	merged := Set(base, ours, theirs, strings.Compare)
	if slices.Equal(merged, ours) || slices.Equal(merged, theirs) || len(base) == 0 {
		return merged
	}
	last := base[len(base)-1]
	if i := slices.Index(merged, last); i >= 0 {
		merged = append(slices.Delete(slices.Clone(merged), i, i+1), last)
	}
	return merged
}
