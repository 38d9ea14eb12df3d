package clients_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/copse-dev/copse/internal/clientconfig"
	"github.com/copse-dev/copse/internal/clientconfig/clientfile"
	"github.com/copse-dev/copse/internal/git/gittest"
)

// TestFilesOfOpencode asks opencode itself which files it reads, and which of two files wins: an
// entry in a file that copse does not know is invisible to doctor and uninstall.
func TestFilesOfOpencode(t *testing.T) {
	t.Parallel()
	f := withHosts(t)
	home := short(t)
	g := gittest.New(t)
	f.repo = g.Init()
	moved := map[string]string{"OPENCODE_CONFIG_DIR": filepath.Join(home, "own"), "OPENCODE_CONFIG": filepath.Join(home, "one.json")}
	client, err := clientconfig.Lookup("opencode")
	if err != nil {
		t.Fatal(err)
	}
	var scopes [][]string
	for _, scope := range []clientfile.Scope{clientfile.User, clientfile.Project} {
		paths, err := client.Paths(scope, clientfile.Location{GOOS: "linux", Home: home, Dir: f.repo, Getenv: func(name string) string { return moved[name] }})
		if err != nil {
			t.Fatal(err)
		}
		scopes = append(scopes, paths)
	}
	// Each two files have an entry in common.
	all := slices.Concat(scopes...)
	common := func(i, j int) string { return fmt.Sprintf("%d-%d", min(i, j), max(i, j)) }
	type server struct {
		Type    string   `json:"type"`
		Command []string `json:"command"`
		Enabled bool     `json:"enabled"`
	}
	type config struct {
		MCP map[string]server `json:"mcp"`
	}
	for i, path := range all {
		c := config{MCP: map[string]server{}}
		for j := range all {
			c.MCP[common(i, j)] = server{Type: "local", Command: []string{path}}
		}
		text, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		gittest.Write(t, path, string(text))
	}
	env := f.environ(home)
	for name, value := range moved {
		env = append(env, name+"="+value)
	}
	var got config
	if out := f.must(t, env, "opencode", "debug", "config"); json.Unmarshal([]byte(out), &got) != nil {
		t.Fatal(out)
	}
	for i, path := range all {
		if _, read := got.MCP[common(i, i)]; !read {
			t.Errorf("opencode does not read %s", path)
		}
	}
	for _, paths := range scopes {
		for i, winner := range paths {
			for _, loser := range paths[i+1:] {
				one := got.MCP[common(slices.Index(all, winner), slices.Index(all, loser))]
				if !slices.Equal(one.Command, []string{winner}) {
					t.Errorf("of %s and %s, opencode uses the entry of %v", winner, loser, one.Command)
				}
			}
		}
	}
}
