package servers_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/copse-dev/copse/internal/git/gittest"
	"github.com/copse-dev/copse/internal/httpguard"
	"github.com/copse-dev/copse/internal/secret"
)

// An answer that begins within a secret shows no part of it: tools find the secrets before they cut.
func TestCutSecret(t *testing.T) {
	t.Parallel()
	const known = "ghp_Ab3dEf6hIj9lMn2pQr5tUv8xYz1bCd4fGh7j"
	g := gittest.New(t)
	dir := g.Init()
	gittest.Write(t, filepath.Join(dir, "f.txt"), strings.Repeat("A", 50)+" "+known+" "+strings.Repeat("B", 300)+"\n")
	env := environment(g)
	env.Secrets = secret.New(nil)
	env.Secrets.Add(known)
	s := fleetIn(t, env, "", freePort(t), httpguard.Options{Token: func() string { return token }})
	join(t, s, dir)
	port := s.Status()[0].MCP.Port
	for era, c := range map[string]*client{"with sessions": connect(t, port), "without sessions": modern(t, port)} {
		got := c.call(t.Context(), 1, "read_file", `{"path":"f.txt","column":60}`)
		if !strings.Contains(got, secret.Mask+" BBB") || strings.Contains(got, known[len(known)-8:]) {
			t.Errorf("%s: %q", era, got)
		}
	}
}
