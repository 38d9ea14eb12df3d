package merge

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/copse-dev/copse/internal/item/merge/fields"
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
	base, ours, theirs := m.base.Config, m.ours.Config, m.theirs.Config
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
			if m.base.Config != nil && c.Text() == base.Text() {
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
	if err := fields.Config(merged, base, ours, theirs); err != nil {
		return nil, fmt.Errorf("merge %s: %w", ConfigName, err)
	}
	return merged, nil
}
