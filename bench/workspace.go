package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/copse-dev/copse/bench/fixture"
	"github.com/copse-dev/copse/bench/measure"
	"github.com/copse-dev/copse/bench/report"
	"github.com/copse-dev/copse/internal/test/stdio"
)

// workspaceFiles measures files, beside the echo and the reference filesystem server,
// and a project of a given number of files.
func workspaceFiles(ctx context.Context, work string, floor, copse []string, rounds, files int) ([]report.Row, error) {
	dir := filepath.Join(work, "files")
	if err := fixture.Files(ctx, dir, 2000); err != nil {
		return nil, err
	}
	huge := filepath.Join(work, "huge")
	if err := fixture.Files(ctx, huge, files); err != nil {
		return nil, err
	}
	time.Sleep(measure.Settle)
	const list, read = `{"path":"."}`, `{"path":"four-kilobytes.txt"}`
	var rows []report.Row
	for _, c := range []struct{ tool, args string }{{"list_directory", list}, {"read_file", read}} {
		r, err := measure.BesideEcho(ctx, dir, floor, copse, rounds*5, c.tool, c.args)
		if err != nil {
			return nil, err
		}
		rows = append(rows, r)
	}
	if reference := referenceServer(dir); reference != nil {
		for _, c := range []struct{ tool, args, theirs string }{
			{"list_directory", list, fmt.Sprintf(`{"path":%q}`, dir)},
			{"read_file", read, fmt.Sprintf(`{"path":%q}`, filepath.Join(dir, "four-kilobytes.txt"))},
		} {
			r, err := measure.BesideOther(ctx, dir, reference, copse, rounds*5, c.tool, c.args, c.theirs)
			if err != nil {
				return nil, err
			}
			rows = append(rows, r)
		}
	} else {
		rows = append(rows, report.LeftOut("files", "the reference filesystem server is not installed; run npm ci in internal/test/clients"))
	}
	name := report.Thousands(files) + " files: "
	s, err := stdio.Spawn(ctx, huge, copse...)
	if err != nil {
		return nil, err
	}
	for _, c := range []struct {
		what, tool, args string
		budget           float64
	}{
		{"get_project_context", "get_project_context", "{}", 400},
		{"search_all", "search_all", `{"query":"sub file"}`, 30},
		{"list_directory, depth 5", "list_directory", `{"path":".","depth":5}`, 150},
	} {
		took, err := measure.Repeat(s, max(rounds/4, min(rounds, 5)), c.tool, func(int) string { return c.args })
		if err != nil {
			return nil, err
		}
		rows = append(rows, report.Limit(name+c.what, "ms", report.Milliseconds(took), c.budget))
	}
	rows = append(rows, report.Row{What: name + "memory", Unit: "MiB", Value: s.Memory(), Within: true})
	return rows, s.Stop()
}

// referenceServer returns the command of the reference filesystem server for a directory, nil where
// it is not installed.
func referenceServer(dir string) []string {
	modules, err := filepath.Abs("internal/test/clients/node_modules")
	if err != nil {
		return nil
	}
	node, script := filepath.Join(modules, "node", "bin", "node"), filepath.Join(modules, "@modelcontextprotocol", "server-filesystem", "dist", "index.js")
	for _, path := range []string{node, script} {
		if _, err := os.Stat(path); err != nil {
			return nil
		}
	}
	return []string{node, script, dir}
}
