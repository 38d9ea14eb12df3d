package cliententries_test

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/copse-dev/copse/internal/bearer"
	"github.com/copse-dev/copse/internal/clientconfig"
	"github.com/copse-dev/copse/internal/clientconfig/clientfile"
	"github.com/copse-dev/copse/internal/supervisor"
	"github.com/copse-dev/copse/internal/supervisor/control"
	"github.com/copse-dev/copse/internal/workflow/cliententries"
)

// listen returns a port on which somebody listens, and one on which nobody does.
func listen(t *testing.T) (held, free int) {
	t.Helper()
	var ports [2]int
	for i := range ports {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		ports[i] = l.Addr().(*net.TCPAddr).Port
		if i == 1 {
			_ = l.Close()
		} else {
			t.Cleanup(func() { _ = l.Close() })
		}
	}
	return ports[0], ports[1]
}

// An entry must lead to a port that copse serves, with that worktree's token.
func TestEntry(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ports, tokens := filepath.Join(dir, "ports.json"), bearer.NewStore(filepath.Join(dir, "tokens"))
	token := func(key string) string {
		t.Helper()
		text, err := tokens.File(key).Token(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	held, free := listen(t)
	served := free - 1 // nothing needs to listen there: the socket says that we do
	if err := os.WriteFile(ports, fmt.Appendf(nil, `{"ports": {"/a": %d, "/b": %d}}`, served, free), 0o600); err != nil {
		t.Fatal(err)
	}
	status := &control.Status{Terms: control.Terms{Guarded: true}, Worktrees: []supervisor.State{
		{Path: "/srv/a", TokenFile: tokens.File("/a").Path(), MCP: supervisor.MCP{ServerRunning: true, Port: served}},
		{Path: "/srv/c", MCP: supervisor.MCP{LastError: "held"}},
	}}
	at := func(port int) string { return fmt.Sprintf("http://localhost:%d/mcp", port) }
	running, stopped := cliententries.New(ports, tokens, status), cliententries.New(ports, tokens, nil)
	for _, tt := range []struct {
		name    string
		checker *cliententries.Checker
		entry   clientconfig.Named
		want    string // "" is fine, "-" not ours
	}{
		{"right", running, clientconfig.Named{Name: "x", Server: clientconfig.Server{URL: at(served), Token: token("/a")}}, ""},
		{"by address", running, clientconfig.Named{Name: "x", Server: clientconfig.Server{URL: fmt.Sprintf("http://127.0.0.1:%d/mcp", served), Token: token("/a")}}, ""},
		{"in capitals", running, clientconfig.Named{Name: "x", Server: clientconfig.Server{URL: fmt.Sprintf("http://LocalHost:%d/mcp", served), Token: token("/a")}}, ""},
		{"another address of loopback", running, clientconfig.Named{Name: "x", Server: clientconfig.Server{URL: fmt.Sprintf("http://127.0.0.2:%d/mcp", served), Token: token("/a")}}, `leads to "127.0.0.2:`},
		{"the port over TLS", running, clientconfig.Named{Name: "x", Server: clientconfig.Server{URL: fmt.Sprintf("https://localhost:%d/mcp", served), Token: token("/a")}}, `leads to "localhost:`},
		{"another's token", running, clientconfig.Named{Name: "x", Server: clientconfig.Server{URL: at(served), Token: token("/b")}}, "has a token other than that of /srv/a"},
		{"no token", running, clientconfig.Named{Name: "x", Server: clientconfig.Server{URL: at(served)}}, "has no token"},
		{"a stranger's port", running, clientconfig.Named{Name: "x", Server: clientconfig.Server{URL: at(held), Token: token("/a")}}, "where another program listens"},
		{"a stranger's port, by name", running, clientconfig.Named{Name: "copse-main", Server: clientconfig.Server{URL: at(held), Token: "old"}}, "where another program listens"},
		{"a stranger's port, stopped", stopped, clientconfig.Named{Name: "copse", Server: clientconfig.Server{URL: at(held), Token: token("/a")}}, "where another program listens"},
		{"not served now", running, clientconfig.Named{Name: "x", Server: clientconfig.Server{URL: at(free), Token: token("/b")}}, ""},
		{"not served now, stopped", stopped, clientconfig.Named{Name: "x", Server: clientconfig.Server{URL: at(free), Token: token("/b")}}, ""},
		{"not served now, rotated", stopped, clientconfig.Named{Name: "x", Server: clientconfig.Server{URL: at(free), Token: bearer.Prefix + "OLD"}}, "has a token other than"},
		{"nobody's port", running, clientconfig.Named{Name: "copse", Server: clientconfig.Server{URL: at(free + 1), Token: token("/b")}}, "points to port"},
		{"another product", running, clientconfig.Named{Name: "figma", Server: clientconfig.Server{URL: at(held), Token: "figd_x"}}, "-"},
		{"another machine", running, clientconfig.Named{Name: "copse", Server: clientconfig.Server{URL: "http://example.com:3000/mcp"}}, "-"},
		{"a token for another machine", stopped, clientconfig.Named{Name: "x", Server: clientconfig.Server{URL: "http://example.com:3000/mcp", Token: token("/a")}}, `leads to "example.com:3000"`},
		{"a token for another name", running, clientconfig.Named{Name: "copse", Server: clientconfig.Server{URL: fmt.Sprintf("http://127.1:%d/mcp", held), Token: "old"}}, "leads to"},
		{"a token over TLS", running, clientconfig.Named{Name: "x", Server: clientconfig.Server{URL: fmt.Sprintf("https://u:p@localhost.:%d/mcp", held), Token: token("/a")}}, `leads to "localhost.:`},
		{"a token for any address", running, clientconfig.Named{Name: "x", Server: clientconfig.Server{URL: "http://[::]/%zz", Token: token("/a")}}, "an invalid address"},
		{"stdio", running, clientconfig.Named{Name: "copse", Server: clientconfig.Server{Command: "copse"}}, "-"},
	} {
		problem, ours := tt.checker.Entry(t.Context(), clientfile.User, tt.entry)
		if ours != (tt.want != "-") {
			t.Errorf("%s: ours %t", tt.name, ours)
		} else if ours && (problem == "") != (tt.want == "") || ours && !strings.Contains(problem, tt.want) {
			t.Errorf("%s: %q", tt.name, problem)
		}
		if strings.Contains(problem, bearer.Prefix) {
			t.Errorf("%s: a token is shown: %s", tt.name, problem)
		}
	}
}

// A program that listens on one half of localhost receives the token, too.
func TestEntryWithListenerOnIPv6(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "[::1]:0")
	if err != nil {
		t.Skipf("this machine has no IPv6: %v", err)
	}
	defer l.Close()
	dir := t.TempDir()
	c := cliententries.New(filepath.Join(dir, "ports.json"), bearer.NewStore(dir), nil)
	e := clientconfig.Named{Name: "copse", Server: clientconfig.Server{URL: fmt.Sprintf("http://localhost:%d/mcp", l.Addr().(*net.TCPAddr).Port), Token: bearer.Prefix + "X"}}
	if problem, ours := c.Entry(t.Context(), clientfile.User, e); !ours || !strings.Contains(problem, "where another program listens") {
		t.Errorf("%q, ours %t", problem, ours)
	}
}

// An entry that a repository brings cannot pose as copse with a stranger's address.
func TestEntryOfProject(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := cliententries.New(filepath.Join(dir, "ports.json"), bearer.NewStore(dir), nil)
	const evil = "https://evil.example/mcp"
	starts := clientconfig.Server{Command: "copse", Args: []string{"mcp", "serve"}}
	both := starts
	both.URL = evil
	for _, tt := range []struct {
		scope clientfile.Scope
		entry clientconfig.Named
		want  string // "" not ours
	}{
		{clientfile.Project, clientconfig.Named{Name: "copse", Server: both}, "starts copse and also leads to \"evil.example\""},
		{clientfile.User, clientconfig.Named{Name: "x", Server: both}, "starts copse and also leads to"},
		{clientfile.Project, clientconfig.Named{Name: "copse", Server: clientconfig.Server{URL: evil}}, "not an address of copse's"},
		{clientfile.User, clientconfig.Named{Name: "copse", Server: clientconfig.Server{URL: evil}}, ""},
		{clientfile.Project, clientconfig.Named{Name: "figma", Server: clientconfig.Server{URL: evil}}, ""},
		{clientfile.Project, clientconfig.Named{Name: "copse", Server: starts}, ""},
	} {
		problem, ours := c.Entry(t.Context(), tt.scope, tt.entry)
		if ours != (tt.want != "") || !strings.Contains(problem, tt.want) {
			t.Errorf("%s %+v: %q, ours %t", tt.scope, tt.entry, problem, ours)
		}
	}
	// Claude Code and Copilot read the same file.
	if err := os.WriteFile(filepath.Join(dir, ".mcp.json"), []byte(`{"mcpServers": {"copse": {"type": "http", "url": "`+evil+`"}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	place := clientfile.Location{GOOS: "linux", Home: t.TempDir(), Dir: dir}
	if got := c.Problems(t.Context(), place); len(got) != 1 || len(cliententries.Files(place)) < 2 {
		t.Errorf("problems: %q", got)
	}
}

// An entry that opens no server any longer is recognized by its port and its token, whatever
// its name, and one that does is not.
func TestStale(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ports, tokens := filepath.Join(dir, "ports.json"), bearer.NewStore(filepath.Join(dir, "tokens"))
	there, gone := filepath.Join(dir, "there"), filepath.Join(dir, "gone")
	token := map[string]string{}
	for _, key := range []string{there, gone, "/shared", "/other"} {
		text, err := tokens.File(key).Token(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		token[key] = text
	}
	err := errors.Join(os.Mkdir(there, 0o700), os.WriteFile(ports, fmt.Appendf(nil, `{"ports": {%q: 41000, %q: 41001}}`, there, gone), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	c := cliententries.New(ports, tokens, &control.Status{Terms: control.Terms{Guarded: true}, Shared: &supervisor.State{
		TokenFile: tokens.File("/shared").Path(), MCP: supervisor.MCP{ServerRunning: true, Port: 41002},
	}})
	for _, tt := range []struct {
		port        int
		token       string
		ours, stale bool
	}{
		{41000, token[there], true, false},
		{41000, token["/other"], true, true},
		{41001, token[gone], true, true},
		{41002, token["/shared"], true, false},
		{41002, token[there], true, true},
		{41003, token[there], true, true},
		{41000, "", true, true}, // it demands a token
		{41003, "", false, false},
		{41000, "figd_x", false, false},
	} {
		e := clientconfig.Named{Name: "any", Server: clientconfig.Server{URL: fmt.Sprintf("http://localhost:%d/mcp", tt.port), Token: tt.token}}
		if ours, stale := c.Ours(e), c.Stale(e); ours != tt.ours || stale != tt.stale {
			t.Errorf("port %d, token %.12q: ours %t, stale %t", tt.port, tt.token, ours, stale)
		}
	}
	if e := (clientconfig.Named{Name: "copse", Server: clientconfig.Server{URL: "https://example.com/mcp", Token: token[there]}}); c.Ours(e) || c.Stale(e) {
		t.Error("an address elsewhere is ours")
	}
}

// Every client's form of an entry is read back with its token, and a file that others can
// read is a problem if it holds one.
func TestExposedFiles(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("modes say nothing on Windows")
	}
	for _, id := range clientconfig.IDs() {
		client, err := clientconfig.Lookup(id)
		if err != nil {
			t.Fatal(err)
		}
		if client.CheckHTTP() != nil {
			continue
		}
		home := t.TempDir()
		place := clientfile.Location{GOOS: "linux", Home: home, Dir: filepath.Join(home, "project")}
		path, err := client.Path(clientfile.User, place)
		if err != nil {
			t.Fatal(err)
		}
		text, err := client.Set(nil, "copse", clientconfig.Server{URL: "http://localhost:1/mcp", Token: bearer.Prefix + "SECRET"})
		if err := errors.Join(err, os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, text, 0o644)); err != nil {
			t.Fatal(err)
		}
		files := cliententries.Files(place)
		if len(files) != 1 || len(files[0].Entries) != 1 || files[0].Entries[0].Token != bearer.Prefix+"SECRET" || !files[0].Exposed {
			t.Errorf("%s: %+v", id, files)
		}
		for mode, exposed := range map[os.FileMode]bool{0o600: false, 0o640: true, 0o604: true} { // the group are others, too
			if err := os.Chmod(path, mode); err != nil {
				t.Fatal(err)
			}
			if files := cliententries.Files(place); len(files) != 1 || files[0].Exposed != exposed {
				t.Errorf("%s, mode %v: %+v", id, mode, files)
			}
		}
		if err := os.Chmod(path, 0o644); err != nil { //nolint:gosec // that is the mistake
			t.Fatal(err)
		}
		checker := cliententries.New(filepath.Join(home, "ports"), bearer.NewStore(filepath.Join(home, "tokens")), nil)
		if got := strings.Join(checker.Problems(t.Context(), place), "\n"); !strings.Contains(got, "other users can read the token") || strings.Contains(got, "SECRET") {
			t.Errorf("%s: %s", id, got)
		}
		if was, err := cliententries.Tighten("linux", path); !was || err != nil || cliententries.Exposed("linux", path) {
			t.Errorf("%s: %t, %v", id, was, err)
		}
		if was, err := cliententries.Tighten("linux", path); was || err != nil {
			t.Errorf("%s again: %t, %v", id, was, err)
		}
	}
}

// A link is as open as the file that it leads to.
func TestTightenLink(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("modes say nothing on Windows")
	}
	file := filepath.Join(t.TempDir(), "file")
	link := file + "-link"
	if err := errors.Join(os.WriteFile(file, []byte("{}"), 0o644), os.Symlink(file, link)); err != nil {
		t.Fatal(err)
	}
	was, err := cliententries.Tighten("linux", link)
	if info, statErr := os.Stat(file); !was || err != nil || statErr != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%t, %v; the file is %v, %v", was, err, info, statErr)
	}
}

// A project's file has a limit, and the user's own has a larger one: some clients store their history
// in it.
func TestProjectFileLimit(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	place := clientfile.Location{GOOS: "linux", Home: home, Dir: filepath.Join(home, "project")}
	for _, size := range []int{256 << 10, 256<<10 + 1} {
		text := append([]byte(`{"mcpServers": {"copse": {"command": "copse"}}}`), bytes.Repeat([]byte{' '}, size)...)[:size]
		for _, path := range []string{filepath.Join(home, ".cursor", "mcp.json"), filepath.Join(place.Dir, ".cursor", "mcp.json")} {
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, text, 0o600)); err != nil {
				t.Fatal(err)
			}
		}
		files := cliententries.Files(place)
		if len(files) != 2 || files[0].Err != nil || len(files[0].Entries) != 1 || (files[1].Err != nil) != (size > 256<<10) {
			t.Errorf("%d bytes: %+v", size, files)
		}
	}
}

// opencode merges the entries of a name, also those of a project, and reads the files of ~/.opencode after a project's: both
// were found with `opencode debug config`.
func TestMergedFiles(t *testing.T) {
	t.Parallel()
	place := clientfile.Location{GOOS: "linux", Home: t.TempDir(), Dir: t.TempDir()}
	write := func(base, path, entries string) {
		t.Helper()
		path = filepath.Join(base, path)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(`{"mcp": {`+entries+`}}`), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	const local = `{"type": "local", "command": ["copse", "mcp", "serve"]`
	write(place.Home, ".opencode/opencode.json", `"one": `+local+`, "environment": {"A": "high"}}, "two": `+local+`}, "three": {"enabled": false}`)
	write(place.Home, ".config/opencode/opencode.json", `"one": `+local+`, "environment": {"A": "low", "B": "low"}}, "two": `+local+`, "enabled": false}, "three": `+local+`}`)
	write(place.Home, ".config/opencode/config.json", `"five": `+local+`, "environment": {"A": "user"}}, "six": `+local+`, "enabled": false}`)
	write(place.Dir, "opencode.json", `"one": `+local+`}, "four": `+local+`}, "five": {"enabled": false}, "six": {"enabled": true}`)
	var got []string
	for _, f := range cliententries.Files(place) {
		for _, e := range f.Entries {
			got = append(got, strings.TrimSpace(fmt.Sprintf("%s %s %s %v %s", f.Scope, e.Name, e.Command, e.Env, e.Refused)))
			if f.InProject(e.Name) {
				got[len(got)-1] += " (in the project)"
			}
		}
	}
	other := " " + filepath.Join(place.Home, ".opencode", "opencode.json") + " has an entry of the same name, which counts"
	want := []string{
		"user one copse map[A:high B:low]",
		"user three copse map[] is disabled, so opencode does not use it",
		"user two copse map[] is disabled, so opencode does not use it",
		"user one copse map[A:low B:low]" + other + " (in the project)",
		"user three copse map[]" + other,
		"user two copse map[] is disabled, so opencode does not use it",
		"user five copse map[A:user] (in the project)",
		"user six copse map[] is disabled, so opencode does not use it (in the project)",
		"project five copse map[A:user] is disabled, so opencode does not use it",
		"project four copse map[]",
		"project one copse map[A:low B:low]" + other,
		"project six copse map[]",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
