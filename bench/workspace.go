package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/copse-dev/copse/bench/report"
	"github.com/copse-dev/copse/internal/test/stdio"
)

// workspaceFiles measures files, beside the echo and the reference filesystem server,
// and a project of 100,000 files.
func workspaceFiles(ctx context.Context, work string, floor, copse []string, rounds int) ([]report.Row, error) {
	dir := filepath.Join(work, "files")
	if err := fileTree(ctx, dir, 2000); err != nil {
		return nil, err
	}
	huge := filepath.Join(work, "huge")
	if err := fileTree(ctx, huge, 100_000); err != nil {
		return nil, err
	}
	time.Sleep(settle)
	const list, read = `{"path":"."}`, `{"path":"four-kilobytes.txt"}`
	var rows []report.Row
	for _, c := range []struct{ tool, args string }{{"list_directory", list}, {"read_file", read}} {
		r, err := besideEcho(ctx, dir, floor, copse, rounds*5, c.tool, c.args)
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
			r, err := besideOther(ctx, dir, reference, copse, rounds*5, c.tool, c.args, c.theirs)
			if err != nil {
				return nil, err
			}
			rows = append(rows, r)
		}
	} else {
		rows = append(rows, report.Row{What: "the reference filesystem server is left out: run npm ci in internal/test/clients", Within: true})
	}
	s, err := stdio.Spawn(ctx, huge, copse...)
	if err != nil {
		return nil, err
	}
	for _, c := range []struct {
		what, tool, args string
		budget           float64
	}{
		{"100,000 files: get_project_context", "get_project_context", "{}", 400},
		{"100,000 files: search_all", "search_all", `{"query":"sub file"}`, 30},
		{"100,000 files: list_directory, depth 5", "list_directory", `{"path":".","depth":5}`, 150},
	} {
		took, err := repeat(s, max(rounds/4, 5), c.tool, func(int) string { return c.args })
		if err != nil {
			return nil, err
		}
		rows = append(rows, report.Limit(c.what, "ms", report.Milliseconds(took), c.budget))
	}
	rows = append(rows, report.Row{What: "100,000 files: memory", Unit: "MiB", Value: s.Memory(), Within: true})
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

// besideOther measures calls of a tool here and of the one of the same name there, in
// turns. Here must not be slower.
func besideOther(ctx context.Context, dir string, other, copse []string, rounds int, tool, args, theirs string) (report.Row, error) {
	yard, err := stdio.Spawn(ctx, dir, other...)
	if err != nil {
		return report.Row{}, err
	}
	s, err := stdio.Spawn(ctx, dir, copse...)
	if err != nil {
		return report.Row{}, err
	}
	var took [2][]time.Duration
	for range rounds {
		d, _, err := yard.Call(tool, theirs)
		if err != nil {
			return report.Row{}, err
		}
		took[0] = append(took[0], d)
		if d, _, err = s.Call(tool, args); err != nil {
			return report.Row{}, err
		}
		took[1] = append(took[1], d)
	}
	err = s.Stop()
	// It ends with an error when its input does.
	_ = yard.Stop()
	return report.Ratio(tool+", beside the reference filesystem server", median(took[0]), median(took[1]), 1), errors.Join(err)
}

// fileTree makes a repository of about n files.
func fileTree(ctx context.Context, dir string, n int) error {
	for i := range n / 100 {
		at := filepath.Join(dir, fmt.Sprintf("pkg%d/mod%d/sub%d", i/100, i/10%10, i%10))
		if err := os.MkdirAll(filepath.Join(at, "inner"), 0o755); err != nil {
			return err
		}
		for k := range 100 {
			name := fmt.Sprintf("file%d.go", k)
			if k%5 == 0 {
				name = filepath.Join("inner", name)
			}
			if err := os.WriteFile(filepath.Join(at, name), nil, 0o644); err != nil {
				return err
			}
		}
	}
	for name, content := range map[string]string{
		".gitignore":         "node_modules/\n*.log\n/dist\n*.o\nbuild/\n.env*\n",
		"four-kilobytes.txt": strings.Repeat("sixty-three characters and one line feed make sixty-four bytes.\n", 64),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			return err
		}
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "-m", "start"}} {
		cmd := exec.CommandContext(ctx, "git", args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("git %v: %w: %s", args, err, out)
		}
	}
	return nil
}
