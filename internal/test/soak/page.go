package main

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/copse-dev/copse/internal/test/soak/rig"
)

// The page has a table for each form of run. A run replaces its own table.
const (
	pageHead = `# Reliability

This page records attempts to break copse from outside, and their results. ` + "`make soak`" + ` and ` + "`make\nfuzz`" + ` write the tables; do not edit them. *Lost* counts missing answers, acknowledged changes that
are absent, unreadable files, servers that ended, and leaked processes, goroutines, and files.
`
	// hostileHead begins a section that no run writes: the output of a test of internal/test/hostile.
	hostileHead  = "\n## Hostile repositories\n"
	breakingHead = "\n## Breaking it\n"
	fuzzingHead  = "\n## Fuzzing\n"
)

func writePage(path string, results []rig.Result, limit, fuzz time.Duration, only string) error {
	old, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	head, rest, _ := strings.Cut(string(old), breakingHead)
	_, hostile, _ := strings.Cut(head, hostileHead)
	breaking, fuzzing, _ := strings.Cut(rest, fuzzingHead)
	switch {
	case fuzz > 0:
		fuzzing = section(fmt.Sprintf("Each target for %s", fuzz), results, fuzzing)
	case only != "" && breaking != "":
		breaking = updated(breaking, results)
	default:
		breaking = section(fmt.Sprintf("All rows together within %s", limit), results, "")
	}
	return os.WriteFile(path, []byte(pageHead+hostileHead+hostile+breakingHead+breaking+fuzzingHead+fuzzing), 0o644)
}

// section returns a table of results. Rows of an old one about what was not tried now stay.
func section(how string, results []rig.Result, old string) string {
	var b bytes.Buffer
	fmt.Fprintf(&b, "\n%s, on %s, on %s/%s with %d CPUs and %s.\n\n| what | tried | survived | lost | |\n|---|--:|--:|--:|---|\n",
		how, time.Now().UTC().Format(time.DateOnly), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version())
	rows := make(map[string]string)
	for line := range strings.Lines(old) {
		if what, _, ok := strings.Cut(strings.TrimPrefix(line, "| "), " | "); ok && strings.HasPrefix(line, "| ") && what != "what" {
			rows[what] = line
		}
	}
	for _, r := range results {
		rows[r.What] = row(r)
	}
	if old == "" {
		for _, r := range results {
			b.WriteString(rows[r.What])
		}
		return b.String()
	}
	for _, what := range slices.Sorted(maps.Keys(rows)) {
		b.WriteString(rows[what])
	}
	return b.String()
}

// row returns the result as a line of a table.
func row(r rig.Result) string {
	return fmt.Sprintf("| %s | %d | %d | %d | %s |\n", r.What, r.Tried, r.Survived, r.Lost, strings.ReplaceAll(r.Note, "\n", " "))
}

// updated returns a table with the rows of one part in place of those that it had, or at its end.
func updated(table string, results []rig.Result) string {
	lines := slices.Collect(strings.Lines(strings.TrimRight(table, "\n") + "\n"))
	for _, r := range results {
		at := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, "| "+r.What+" | ") })
		if at < 0 {
			lines, at = append(lines, ""), len(lines)
		}
		lines[at] = row(r)
	}
	return strings.Join(lines, "")
}
