package merge

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/ticfile"
)

// mergeConfig merges the configurations.
func (m *merger) mergeConfig() error {
	config, err := m.mergedConfig()
	if config == nil || err != nil {
		return err
	}
	next := config.NextID()
	for _, e := range m.sorted {
		if e.state != absent {
			next = max(next, e.id+1)
		}
	}
	if err := config.SetNextID(next); err != nil {
		return fmt.Errorf("write %s: %w", ConfigName, err)
	}
	m.result.Tree[ConfigName] = config.Text()
	return nil
}

func (m *merger) mergedConfig() (*ticfile.Config, error) {
	base, ours, theirs := m.base.config, m.ours.config, m.theirs.config
	switch {
	case ours == nil && theirs == nil:
		return nil, nil
	case ours == nil:
		return ticfile.ParseConfig(theirs.Text())
	case theirs == nil:
		return ticfile.ParseConfig(ours.Text())
	}
	if base == nil {
		base = new(ticfile.Config)
	}
	list := []*ticfile.Config{ours, theirs}
	slices.SortFunc(list, func(a, b *ticfile.Config) int {
		// What one side alone changed keeps all of its bytes.
		unchanged := func(c *ticfile.Config) int {
			if m.base.config != nil && c.Text() == base.Text() {
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
	if err := mergeValues(merged, base, ours, theirs); err != nil {
		return nil, fmt.Errorf("merge %s: %w", ConfigName, err)
	}
	return merged, nil
}

func mergeValues(merged, base, ours, theirs *ticfile.Config) error {
	b, o, t := base.Values(), ours.Values(), theirs.Values()
	current, _ := mergeScalar(b.CurrentIteration, o.CurrentIteration, t.CurrentIteration, nil)
	err := merged.SetValues(item.Config{
		Types:            mergeSet(b.Types, o.Types, t.Types, strings.Compare),
		Statuses:         mergeStatuses(b.Statuses, o.Statuses, t.Statuses),
		Iterations:       mergeSet(b.Iterations, o.Iterations, t.Iterations, strings.Compare),
		CurrentIteration: current,
	})
	if err != nil {
		return err
	}
	if err := merged.SetNextID(max(ours.NextID(), theirs.NextID())); err != nil {
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
		value, _ := mergeScalar(raw(base), raw(ours), raw(theirs), nil)
		if err := merged.SetRaw(key, value); err != nil {
			return err
		}
	}
	return nil
}

// mergeStatuses merges the lists of statuses. The last one means done, so what was
// added goes before it.
func mergeStatuses(base, ours, theirs []string) []string {
	merged := mergeSet(base, ours, theirs, strings.Compare)
	if slices.Equal(merged, ours) || slices.Equal(merged, theirs) || len(base) == 0 {
		return merged
	}
	last := base[len(base)-1]
	if i := slices.Index(merged, last); i >= 0 {
		merged = append(slices.Delete(slices.Clone(merged), i, i+1), last)
	}
	return merged
}
