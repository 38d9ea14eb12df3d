package clients_test

import (
	"path/filepath"
	"strings"
	"testing"
)

// Clients with the Skills extension find the prompt registry: the suite checks the protocol, and
// the inspector what it reads.
func TestSkills(t *testing.T) {
	t.Parallel()
	f := setup(t)
	copse := filepath.Join(f.bin, "copse")
	run(t, f.repo, copse, "command", "init")
	base, _ := up(t, f, "--no-token")
	suite := filepath.Join(f.modules, "@modelcontextprotocol", "conformance", "dist", "index.js")
	for _, revision := range []string{"2025-11-25", "2026-07-28"} {
		for _, scenario := range []string{"sep-2640-skills-enumeration", "sep-2640-skills-manifest", "sep-2640-skills-directory"} {
			out, code := try(t, f.repo, f.node, suite, "server", "--url", base+"/mcp", "--scenario", scenario, "--spec-version", revision, "--force", "-o", t.TempDir())
			skipped := scenario == "sep-2640-skills-enumeration" && !strings.Contains(out, "Passed: 3") // it has 30 checks and more
			if code != 0 || skipped || !strings.Contains(out, " 0 failed") {
				t.Errorf("%s %s: exit %d\n%s", revision, scenario, code, out)
			}
		}
	}
	for _, era := range []string{"legacy", "modern"} {
		out, code := try(t, f.repo, f.node, filepath.Join(f.modules, ".bin", "mcp-inspector"), "--cli", copse, "mcp", "serve",
			"--protocol-era", era, "--format", "json", "--method", "skills/list", "--verify")
		if code != 0 || !strings.Contains(out, `"name":"git-write-commit-message"`) || !strings.Contains(out, `"outcome":"verified"`) {
			t.Errorf("%s: exit %d\n%s", era, code, out)
		}
	}
}
