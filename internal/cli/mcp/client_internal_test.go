package mcp

import (
	"fmt"
	"strings"
	"testing"

	"github.com/copse-dev/copse/internal/clientconfig"
)

// Entries are removed from a text one after the other, which must not take long.
func TestManyEntriesToRemove(t *testing.T) {
	t.Parallel()
	c, err := clientconfig.Lookup("claude-code")
	if err != nil {
		t.Fatal(err)
	}
	remove := func(entries int) (string, error) {
		var list []string
		for i := range entries {
			list = append(list, fmt.Sprintf(`"gone%d": {"command": "copse"}`, i))
		}
		text := `{"mcpServers": {"other": {"command": "other"}, ` + strings.Join(list, ", ") + `}}`
		left, err := withoutEntries(c, []byte(text), nil, func(e clientconfig.Named) bool { return strings.HasPrefix(e.Name, "gone") })
		return string(left), err
	}
	if left, err := remove(100); err != nil || strings.Contains(left, "gone") || !strings.Contains(left, "other") {
		t.Errorf("got %q, %v", left, err)
	}
	if _, err := remove(101); err == nil || !strings.Contains(err.Error(), "it has 101 entries to remove") {
		t.Errorf("got %v", err)
	}
}
