package peers

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/copse-dev/copse/bench/report"
)

// serverMode makes the test program an MCP server: "able", or "broken", which answers each
// call with an error.
const serverMode = "COPSE_BENCH_TEST_SERVER"

func TestMain(m *testing.M) {
	if mode := os.Getenv(serverMode); mode != "" {
		serve(mode)
		return
	}
	os.Exit(m.Run())
}

func serve(mode string) {
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		var req struct {
			ID     json.RawMessage
			Method string
		}
		if json.Unmarshal(in.Bytes(), &req) != nil || req.ID == nil {
			continue
		}
		result := map[string]string{
			"initialize": `{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"test","version":"1"}}`,
			"tools/list": `{"tools":[{"name":"x","inputSchema":{}}]}`,
			"tools/call": `{"content":[{"type":"text","text":"- one\n- two\n"}],"isError":` + fmt.Sprint(mode == "broken") + `}`,
		}[req.Method]
		fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", req.ID, result)
	}
}

// contest compares servers of these modes by name; the mode "absent" is a program that is
// not there.
func contest(t *testing.T, modes map[string]string) ([]report.Table, []string, error) {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := &comparison{ctx: t.Context(), rounds: 3}
	for name, mode := range modes {
		p := Peer{Name: name, argv: []string{program}, env: []string{serverMode + "=" + mode}, calls: map[string]call{listItems: {tool: "x", args: "{}"}}}
		if mode == "absent" {
			p.argv = []string{program + "-absent"}
		}
		c.peers = append(c.peers, p)
	}
	slices.SortFunc(c.peers, func(a, b Peer) int { return strings.Compare(a.Name, b.Name) })
	dir := t.TempDir()
	starting, err := c.starting(dir)
	if err != nil {
		return nil, c.left, err
	}
	tables, err := c.works(dir, []string{listItems})
	return append([]report.Table{starting}, tables...), c.left, err
}

// A peer that fails is reported, and the others are measured.
func TestContinuesWithoutPeers(t *testing.T) {
	t.Parallel()
	tables, left, err := contest(t, map[string]string{report.Own: "able", "broken one": "broken", "missing one": "absent", "other": "able"})
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range tables {
		var servers []string
		for _, row := range table.Rows {
			servers = append(servers, row.Server)
		}
		want := "copse other"
		if table.Name == "start" {
			want = "broken one copse other"
		}
		if got := strings.Join(servers, " "); got != want {
			t.Errorf("table %s has %s, want %s", table.Name, got, want)
		}
	}
	if len(left) != 2 || !strings.HasPrefix(left[0], "missing one fails to start: ") || !strings.HasPrefix(left[1], "broken one fails to list the open work items: ") {
		t.Errorf("left out: %q", left)
	}
}

// There is nothing to compare with a copse that fails.
func TestEndsWithoutCopse(t *testing.T) {
	t.Parallel()
	if _, _, err := contest(t, map[string]string{report.Own: "broken", "other": "able"}); err == nil {
		t.Error("no error")
	}
}
