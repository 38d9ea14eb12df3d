package mcpserver_test

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/mcpserver"
	"github.com/copse-dev/copse/internal/wiring"
	"github.com/copse-dev/copse/internal/wiring/product"
)

// TestSchemaJSON holds the schemas of all tools against what the library writes.
func TestSchemaJSON(t *testing.T) {
	t.Parallel()
	all := product.New(t.Context(), wiring.Options{Program: "copse", Env: app.Env{Dir: t.TempDir(), Now: time.Now}})
	t.Cleanup(func() { _ = all.Close() })
	tools := 0
	for _, set := range all.Toolsets {
		for _, tool := range set.Tools {
			tools++
			want, err := json.Marshal(tool.Input)
			if err != nil {
				t.Fatal(err)
			}
			var a, b any
			got := mcpserver.SchemaJSON(tool.Input)
			if json.Unmarshal(want, &a) != nil || json.Unmarshal(got, &b) != nil || !reflect.DeepEqual(a, b) {
				t.Errorf("%s: %s, want %s", tool.Name, got, want)
			}
		}
	}
	if tools != 34 {
		t.Errorf("%d tools", tools)
	}
}
