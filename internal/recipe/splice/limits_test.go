package splice_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/copse-dev/copse/internal/recipe/splice"
	"github.com/copse-dev/copse/internal/test/need"
)

// A small justfile can insert a long constant thousands of times, and its recipes can pass values on
// in a long chain. The analysis does not build those texts.
//
//nolint:paralleltest // measures the memory that the process allocates
func TestLongTexts(t *testing.T) {
	quoted := `[["call","quote",["variable","p"]]]`
	constant := func(length int) string {
		return fmt.Sprintf(`"assignments":{"a":{"value":%q}}`, strings.Repeat("x", length))
	}
	recipe := func(lines ...string) string {
		return `{"body":[` + strings.Join(lines, ",") + `],"parameters":[{"name":"p"}]}`
	}
	line := `["echo ",[["variable","a"]]," ",` + quoted + `]`
	mentions := `["echo "` + strings.Repeat(`,[["variable","a"]]`, 3000) + `," ",` + quoted + `]`
	var recipes, chain, defaults, parameters strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&recipes, `"r%d":%s,`, i, recipe(line))
		fmt.Fprintf(&chain, `"r%d":{"body":[],"parameters":[{"name":"p"}],"dependencies":[{"recipe":"r%d","arguments":[["variable","p"]]}]},`, i, i+1)
		fmt.Fprintf(&defaults, `{"name":"p%d","default":["variable","p%d"]},`, i+1, i)
	}
	lines := make([]string, 20_000)
	for i := range lines {
		lines[i] = line
		fmt.Fprintf(&parameters, `{"name":"p%d","export":true},`, i)
	}
	limit := uint64(200 << 20)
	if need.RaceDetector() {
		limit = 1 << 30 // the race detector copies texts that are otherwise converted in place
	}
	for name, dump := range map[string]string{
		"mentions":     `{` + constant(200_000) + `,"recipes":{"r":` + recipe(mentions) + `}}`,
		"lines":        `{` + constant(30_000) + `,"recipes":{"r":` + recipe(lines...) + `}}`,
		"recipes":      `{` + constant(200_000) + `,"recipes":{` + recipes.String() + `"r":` + recipe(line) + `}}`,
		"concatenated": `{` + constant(1000) + `,"recipes":{"r":` + recipe(`["echo ",[["concatenate"`+strings.Repeat(`,["variable","a"]`, 50_000)+`]]," ",`+quoted+`]`) + `}}`,
		"parentheses":  `{"recipes":{"r":` + recipe(`["echo `+strings.Repeat("( ", 400_000)+`",`+quoted+`]`) + `}}`,
		"chain":        `{"recipes":{` + chain.String() + `"r":{"body":[],"parameters":[{"name":"p"}],"dependencies":[{"recipe":"r0","arguments":[["variable","p"]]}]},"r3000":` + recipe(`["echo ",[["variable","p"]]]`) + `}}`,
		"defaults":     `{"recipes":{"r":{"body":[["echo ",[["variable","p3000"]]]],"parameters":[{"name":"p0"},` + defaults.String() + `{"name":"p"}],"dependencies":[{"recipe":"none","arguments":[["variable","p"]]}]}}}`,
		"scripts":      `{"recipes":{"r":{"body":[` + strings.Repeat(`["echo \"$p\" `+strings.Repeat("x", 30_000)+`"],`, 145) + `["true"]],"parameters":[{"name":"p","export":true}]}}}`,
		"parameters":   `{"recipes":{"r":{"body":[` + strings.Repeat(`["eval \"$1\""],`, 20_000) + `["echo ",[["variable","p"]]]],"parameters":[` + parameters.String() + `{"name":"p"}]}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			found, err := splice.Analyze([]byte(dump), splice.Known{})
			runtime.ReadMemStats(&after)
			if err != nil || found["r"]["p"] == "" {
				t.Errorf("%v, %v; p counts as spliced in a text that nobody can parse", err, found["r"])
			}
			if used := after.TotalAlloc - before.TotalAlloc; used > limit {
				t.Errorf("the analysis of %d bytes allocated %d MiB", len(dump), used>>20)
			}
		})
	}
}
