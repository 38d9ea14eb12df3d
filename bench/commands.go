package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/copse-dev/copse/bench/report"
	"github.com/copse-dev/copse/internal/test/stdio"
)

// promptCommands measures a registry of 10,000 commands.
func promptCommands(ctx context.Context, work string, floor, copse []string, rounds int) ([]report.Row, error) {
	dir := filepath.Join(work, "commands")
	if err := promptRegistry(dir, 10_000); err != nil {
		return nil, err
	}
	time.Sleep(settle)
	s, err := stdio.Spawn(ctx, dir, copse...)
	if err != nil {
		return nil, err
	}
	const one = `{"agent":"climpt","c1":"domain","c2":"action","c3":"target"}`
	load, _, err := s.Call("describe", one)
	if err != nil {
		return nil, err
	}
	query := func(i int) string {
		return fmt.Sprintf(`{"query":"write a database migration for the customer service %d"}`, i)
	}
	first, _, err := s.Call("search", query(0))
	if err != nil {
		return nil, err
	}
	search, err := repeat(s, rounds, "search", query)
	if err != nil {
		return nil, err
	}
	rows := []report.Row{
		report.Limit("10,000 commands: load", "ms", report.Milliseconds(load), 150),
		report.Limit("10,000 commands: load, and first search", "ms", report.Milliseconds(load+first), 150),
		report.Limit("10,000 commands: search, warm", "ms", report.Milliseconds(search), 2),
		{What: "10,000 commands: memory", Unit: "MiB", Value: s.Memory(), Within: true},
	}
	if err := s.Stop(); err != nil {
		return nil, err
	}
	for _, tool := range []string{"describe", "execute"} {
		r, err := besideEcho(ctx, dir, floor, copse, rounds*5, tool, one)
		if err != nil {
			return nil, err
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// promptRegistry makes a registry with n commands. The first one can be executed.
func promptRegistry(dir string, n int) error {
	words := strings.Fields("write review fix check plan commit branch test docs release incident security database frontend query index " +
		"changes function module service request error logs metrics customer schema migration component page form state cache")
	random := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	b.WriteString(`{"version":"1.0.0","description":"","tools":{"availableConfigs":[],"commands":[`)
	for i := range n {
		c1, c2, c3 := fmt.Sprintf("domain%d", i%50), fmt.Sprintf("action%d", i%200), fmt.Sprintf("target%d", i)
		if i == 0 {
			c1, c2, c3 = "domain", "action", "target"
		} else {
			b.WriteByte(',')
		}
		var text []string
		for range 12 {
			text = append(text, words[random.IntN(len(words))])
		}
		fmt.Fprintf(&b, `{"c1":%q,"c2":%q,"c3":%q,"description":%q,"usage":"climpt-x","options":{"edition":["default"],"adaptation":["default"],`+
			`"file":false,"stdin":true,"destination":false},"uv":[{"target":"What to do it to"}]}`, c1, c2, c3, strings.Join(text, " "))
	}
	b.WriteString("]}}")
	for name, content := range map[string]string{
		"registry.json":                      b.String(),
		"config/domain-app.yml":              "working_dir: .agent/climpt\napp_prompt:\n  base_dir: prompts\napp_schema:\n  base_dir: schema\nparams:\n  two:\n    directiveType:\n      pattern: action\n    layerType:\n      pattern: target\n",
		"prompts/action/target/f_default.md": "---\nc1: domain\n---\n" + strings.Repeat("Do this to {uv-target}.\n", 20),
	} {
		name = filepath.Join(dir, ".agent", "climpt", filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
			return err
		}
	}
	return nil
}
