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

// No token of an entry appears, however the file quotes it.
func TestHideToken(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		`"Authorization": "Bearer s3cret",`:                `"Authorization": "Bearer …",`,
		`Authorization = 'Bearer s3cret' # "a"`:            `Authorization = 'Bearer …' # "a"`,
		`x = 'Bearer s3"cret', y = "Bearer s3cret" # it's`: `x = 'Bearer …', y = "Bearer …" # it's`,
		`# Bearer s3cret is old`:                           `# Bearer … is old`,
		`"""Bearer s3cret`:                                 `"""Bearer …`,
	} {
		if got := string(hideToken([]byte(line + "\n"))); got != want+"\n" {
			t.Errorf("%s\n got %s\nwant %s", line, got, want)
		}
	}
}
