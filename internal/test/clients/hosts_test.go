package clients_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/copse-dev/copse/internal/test/need"
)

// hosts are the clients that can be asked, without a login, which servers they know. All but
// codex and copilot start them, too, and say so.
var hosts = []struct {
	client  string
	list    []string
	reached string // what the list says of a server that answers
}{
	{"claude-code", []string{"claude", "mcp", "list"}, "✔ Connected"},
	{"codex", []string{"codex", "mcp", "list", "--json"}, `"name": "copse"`},
	{"gemini", []string{"gemini", "mcp", "list"}, "Connected"},
	{"opencode", []string{"opencode", "mcp", "list"}, "connected"},
	{"copilot", []string{"copilot", "mcp", "list"}, "  copse ("},
}

// TestInstalledHosts lets the real clients read what "copse mcp install" wrote, over stdio
// and over HTTP, connect, and find nothing any more after "uninstall".
func TestInstalledHosts(t *testing.T) {
	t.Parallel()
	f := setup(t)
	bin, err := filepath.Abs(filepath.Join("..", "hosts", "node_modules", ".bin"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(bin, "claude")); err != nil {
		need.Skip(t, "the hosts are not installed; run npm install in internal/test/hosts")
	}
	home := short(t)
	upAt(t, f, home)
	env := append(atHome(home), "NO_COLOR=1", "GEMINI_CLI_TRUST_WORKSPACE=true", "DISABLE_TELEMETRY=1", "DISABLE_AUTOUPDATER=1", "OPENCODE_DISABLE_AUTOUPDATE=1",
		"PATH="+strings.Join([]string{f.bin, filepath.Dir(f.node), os.Getenv("PATH")}, string(filepath.ListSeparator)))
	at := func(argv ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), argv[0], argv[1:]...)
		cmd.Dir, cmd.Env, cmd.WaitDelay = f.repo, env, 5*time.Second
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v\n%s", strings.Join(argv, " "), err, out)
		}
		return string(out)
	}
	for _, h := range hosts {
		for _, transport := range []string{"stdio", "http"} {
			at(filepath.Join(f.bin, "copse"), "mcp", "install", "--client", h.client, "--transport", transport)
			list := append([]string{filepath.Join(bin, h.list[0])}, h.list[1:]...)
			out := at(list...)
			if !strings.Contains(out, h.reached) || !strings.Contains(out, "copse") {
				t.Errorf("%s over %s says\n%s", h.client, transport, out)
			}
			at(filepath.Join(f.bin, "copse"), "mcp", "uninstall", "--client", h.client, "--transport", transport)
			if out := at(list...); strings.Contains(out, h.reached) {
				t.Errorf("%s over %s still says\n%s", h.client, transport, out)
			}
		}
	}
}
