package mcpserver_test

import (
	"context"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/copse-dev/copse/internal/httpguard"
	"github.com/copse-dev/copse/internal/test/need"
)

// TestConformance runs the official suite of both eras against our server over HTTP.
func TestConformance(t *testing.T) {
	t.Parallel()
	modules, err := filepath.Abs("../test/clients/node_modules")
	if err != nil {
		t.Fatal(err)
	}
	node, suite := filepath.Join(modules, "node", "bin", "node"), filepath.Join(modules, "@modelcontextprotocol", "conformance", "dist", "index.js")
	if _, err := os.Stat(suite); err != nil {
		need.Skip(t, "the conformance suite is not installed; run npm ci in internal/test/clients")
	}
	handler := fixtureServer().HTTP()
	server := httptest.NewServer(httpguard.New(httpguard.Options{Now: time.Now, Rate: 10_000}, handler))
	t.Cleanup(server.Close)
	t.Cleanup(handler.Close)
	for _, revision := range []string{"2025-11-25", "2026-07-28"} {
		t.Run(revision, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
			defer cancel()
			out, err := exec.CommandContext(ctx, node, suite, "server", "--url", server.URL+"/mcp", "--requirements", revision, "-o", t.TempDir()).CombinedOutput()
			_, summary, _ := strings.Cut(string(out), "=== SUMMARY ===")
			if err != nil {
				t.Errorf("%v\n%s", err, summary)
			}
		})
	}
}
