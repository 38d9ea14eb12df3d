package command_test

import (
	"fmt"
	"testing"

	"github.com/copse-dev/copse/internal/command"
)

func BenchmarkParse(b *testing.B) {
	const entry = `{
        "c1": "domain%d",
        "c2": "action-of",
        "c3": "target%d",
        "description": "Group file changes by what they mean, 意味ごとに, and commit them one after the other",
        "usage": "climpt-domain action-of target",
        "options": {
          "edition": ["default", "strict"],
          "adaptation": ["default"],
          "file": false,
          "stdin": true,
          "destination": false
        },
        "uv": [
          { "target": "The \"target\" to run: a file, a function or a pattern" }
        ]
      }`
	entries := make([]string, 10_000)
	for i := range entries {
		entries[i] = fmt.Sprintf(entry, i%50, i)
	}
	data := []byte(registryWith(entries...))
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		r, err := command.Parse(data)
		if err != nil || len(r.Commands) != len(entries) {
			b.Fatal(err)
		}
	}
}
