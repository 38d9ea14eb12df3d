package jsonfile_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/copse-dev/copse/internal/jsonfile"
)

// dependencies has the form of the largest file that twig writes.
type dependencies struct {
	Dependencies []struct {
		ID        string    `json:"id"`
		Child     string    `json:"child"`
		Parent    string    `json:"parent"`
		CreatedAt time.Time `json:"created_at"`
	} `json:"dependencies"`
}

// decoders are the candidates. Built with GOEXPERIMENT=jsonv2, encoding/json/v2 is one of them.
var decoders = map[string]func([]byte) error{
	"jsonfile": func(data []byte) error {
		_, err := jsonfile.Decode[dependencies](data)
		return err
	},
	"standard": func(data []byte) error {
		var d dependencies
		return json.Unmarshal(data, &d)
	},
}

// BenchmarkDecoders compares the decoders with the state of 10,000 branches.
func BenchmarkDecoders(b *testing.B) {
	const branches = 10_000
	var d dependencies
	for i := range branches {
		d.Dependencies = append(d.Dependencies, struct {
			ID        string    `json:"id"`
			Child     string    `json:"child"`
			Parent    string    `json:"parent"`
			CreatedAt time.Time `json:"created_at"`
		}{fmt.Sprintf("e4ee6266-7ea2-4e74-8b1f-f9da7a%06x", i), fmt.Sprintf("feature/branch-%05d", i), fmt.Sprintf("feature/branch-%05d", i/2), time.Unix(int64(i), 0)})
	}
	data, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		b.Fatal(err)
	}
	for name, decode := range decoders {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				if err := decode(data); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
