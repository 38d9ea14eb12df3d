package mcpserver_test

import (
	"context"
	"fmt"
	"net/http/httptest"
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
	conform := suite(t)
	for _, revision := range []string{"2025-11-25", "2026-07-28"} {
		t.Run(revision, func(t *testing.T) {
			out, err := conform(t, "--requirements", revision)
			_, summary, _ := strings.Cut(out, "=== SUMMARY ===")
			if err != nil {
				t.Errorf("%v\n%s", err, summary)
			}
		})
	}
}

// TestConformanceTasks runs the scenarios of the extension Tasks, which are not among the
// requirements of a revision.
func TestConformanceTasks(t *testing.T) {
	t.Parallel()
	conform := suite(t)
	for scenario, checks := range map[string]int{
		"tasks-lifecycle": 9, "tasks-capability-negotiation": 5, "tasks-wire-fields": 4, "tasks-request-state-removal": 3,
		"tasks-mrtr-input": 4, "tasks-request-headers": 5, "tasks-dispatch-and-envelope": 9, "tasks-required-task-error": 3,
		"tasks-mrtr-composition": 2,
		// The suite skips its scenario of notifications, which a server may leave out, as ours does.
		"tasks-status-notifications": 0,
	} {
		t.Run(scenario, func(t *testing.T) {
			t.Parallel()
			out, err := conform(t, "--scenario", scenario, "--spec-version", "2026-07-28", "--force")
			if want := fmt.Sprintf("Passed: %d/%d, 0 failed", checks, checks); err != nil || !strings.Contains(out, want) {
				t.Errorf("%v, want %q in\n%s", err, want, out)
			}
		})
	}
}

// suite starts a server with everything that the suite calls for, and returns how to run the
// suite against it.
func suite(t *testing.T) func(t *testing.T, args ...string) (string, error) {
	modules, err := filepath.Abs("../test/clients/node_modules")
	if err != nil {
		t.Fatal(err)
	}
	node, program := filepath.Join(modules, "node", "bin", "node"), filepath.Join(modules, "@modelcontextprotocol", "conformance", "dist", "index.js")
	if !need.Present(program) {
		need.Skip(t, "the conformance suite is not installed; run npm ci in internal/test/clients")
	}
	handler := fixtureServer().HTTP()
	server := httptest.NewServer(httpguard.New(httpguard.Options{Now: time.Now, Rate: 10_000}, handler))
	t.Cleanup(server.Close)
	t.Cleanup(handler.Close)
	return func(t *testing.T, args ...string) (string, error) {
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
		defer cancel()
		args = append([]string{program, "server", "--url", server.URL + "/mcp", "-o", t.TempDir()}, args...)
		out, err := exec.CommandContext(ctx, node, args...).CombinedOutput()
		return string(out), err
	}
}
