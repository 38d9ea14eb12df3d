package merge

import (
	"fmt"

	"github.com/copse-dev/copse/internal/item/merge/fields"
)

// mergeConfig merges the configurations.
func (m *merger) mergeConfig() error {
	config, err := fields.Config(m.base.Config, m.ours.Config, m.theirs.Config)
	if err != nil {
		return fmt.Errorf("merge %s: %w", ConfigName, err)
	}
	if config == nil {
		return nil
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
