package clientconfig_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tailscale/hujson"
	"pgregory.net/rapid"

	"github.com/copse-dev/copse/internal/clientconfig"
	"github.com/copse-dev/copse/internal/clientconfig/clientfile"
	"github.com/copse-dev/copse/internal/clientconfig/sessionhook"
	"github.com/copse-dev/copse/internal/hostenv"
)

var (
	stdio = clientconfig.Server{Command: "/opt/copse", Args: []string{"mcp", "serve"}}
	http  = clientconfig.Server{URL: "http://localhost:3000/mcp", Token: "t0ken"}
)

func lookup(t testing.TB, id string) clientconfig.Client {
	t.Helper()
	c, err := clientconfig.Lookup(id)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// quotedVariables lists the variables that copse needs.
func quotedVariables(format, separator string) string {
	var parts []string
	for _, name := range hostenv.Variables() {
		parts = append(parts, fmt.Sprintf(format, name))
	}
	return strings.Join(parts, separator)
}

func sortedReferences() string {
	var lines []string
	for _, name := range slices.Sorted(slices.Values(hostenv.Variables())) {
		lines = append(lines, fmt.Sprintf("        %q: %q", name, "$"+name))
	}
	return strings.Join(lines, ",\n")
}

// TestEntries pins what each client reads.
func TestEntries(t *testing.T) {
	t.Parallel()
	const plain = `{
  "KEY": {
    "copse": {
      "command": "/opt/copse",
      "args": [
        "mcp",
        "serve"
      ]
    }
  }
}
`
	typed := strings.Replace(plain, `"command"`, `"type": "stdio",
      "command"`, 1)
	remote := func(key string) string {
		return `{
  "KEY": {
    "copse": {
      "` + key + `": "http://localhost:3000/mcp",
      "headers": {
        "Authorization": "Bearer t0ken"
      }
    }
  }
}
`
	}
	typedRemote := strings.Replace(remote("url"), `"url"`, `"type": "http",
      "url"`, 1)
	for id, want := range map[string]struct{ key, stdio, http string }{
		"claude-code":    {"mcpServers", typed, typedRemote},
		"claude-desktop": {"mcpServers", plain, "error: Claude Desktop starts its servers itself and reads no address from its file; use --transport stdio"},
		"vscode":         {"servers", typed, typedRemote},
		"cursor":         {"mcpServers", plain, remote("url")},
		"gemini":         {"mcpServers", strings.Replace(plain, "      ]\n", "      ],\n      \"env\": {\n"+sortedReferences()+"\n      }\n", 1), remote("httpUrl")},
		"qwen":           {"mcpServers", plain, remote("httpUrl")},
		"copilot": {"mcpServers", strings.Replace(typed, "      ]\n", "      ],\n      \"env\": {\n        \"GITHUB_TOKEN\": \"${GITHUB_TOKEN}\"\n      },\n      \"tools\": [\n        \"*\"\n      ]\n", 1),
			strings.Replace(typedRemote, "      }\n    }", "      },\n      \"tools\": [\n        \"*\"\n      ]\n    }", 1)},
		"windsurf": {"mcpServers", plain, remote("serverUrl")},
		"zed":      {"context_servers", plain, remote("url")},
		"opencode": {"mcp", `{
  "KEY": {
    "copse": {
      "type": "local",
      "command": [
        "/opt/copse",
        "mcp",
        "serve"
      ],
      "enabled": true
    }
  }
}
`, `{
  "KEY": {
    "copse": {
      "type": "remote",
      "url": "http://localhost:3000/mcp",
      "headers": {
        "Authorization": "Bearer t0ken"
      },
      "enabled": true
    }
  }
}
`},
		"codex": {"", "[mcp_servers.copse]\ncommand = \"/opt/copse\"\nargs = [\"mcp\", \"serve\"]\nenv_vars = [" + quotedVariables("%q", ", ") + "]\n",
			"[mcp_servers.copse]\nurl = \"http://localhost:3000/mcp\"\nhttp_headers = { Authorization = \"Bearer t0ken\" }\n"},
	} {
		c := lookup(t, id)
		for server, text := range map[*clientconfig.Server]string{&stdio: want.stdio, &http: want.http} {
			got, err := c.Set(nil, "copse", *server)
			if err != nil {
				got = []byte("error: " + err.Error())
			}
			if diff := cmp.Diff(strings.Replace(text, "KEY", want.key, 1), string(got)); diff != "" {
				t.Errorf("%s: %s", id, diff)
			}
		}
	}
	if len(clientconfig.IDs()) != 11 {
		t.Errorf("clients: %q", clientconfig.IDs())
	}
	if _, err := clientconfig.Lookup("emacs"); err == nil || !strings.Contains(err.Error(), "known clients: claude-code, ") {
		t.Errorf("got %v", err)
	}
}

func TestPath(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		id    string
		scope clientfile.Scope
		place clientfile.Location
		want  string
	}{
		{"claude-code", "user", clientfile.Location{Home: "/h"}, "/h/.claude.json"},
		{"claude-code", "project", clientfile.Location{Dir: "/p"}, "/p/.mcp.json"},
		{"claude-desktop", "user", clientfile.Location{GOOS: "linux", Home: "/h"}, "/h/.config/Claude/claude_desktop_config.json"},
		{"claude-desktop", "user", clientfile.Location{GOOS: "darwin", Home: "/h"}, "/h/Library/Application Support/Claude/claude_desktop_config.json"},
		{"claude-desktop", "user", clientfile.Location{GOOS: "windows", Home: "/h", AppData: "/roaming"}, "/roaming/Claude/claude_desktop_config.json"},
		{"vscode", "user", clientfile.Location{GOOS: "linux", Home: "/h", ConfigHome: "/c"}, "/c/Code/User/mcp.json"},
		{"vscode", "user", clientfile.Location{GOOS: "darwin", Home: "/h"}, "/h/Library/Application Support/Code/User/mcp.json"},
		{"vscode", "user", clientfile.Location{GOOS: "windows", Home: "/h"}, "/h/AppData/Roaming/Code/User/mcp.json"},
		{"vscode", "project", clientfile.Location{Dir: "/p"}, "/p/.vscode/mcp.json"},
		{"cursor", "user", clientfile.Location{GOOS: "windows", Home: "/h"}, "/h/.cursor/mcp.json"},
		{"codex", "user", clientfile.Location{Home: "/h"}, "/h/.codex/config.toml"},
		{"codex", "project", clientfile.Location{Dir: "/p"}, "/p/.codex/config.toml"},
		{"gemini", "project", clientfile.Location{Dir: "/p"}, "/p/.gemini/settings.json"},
		{"opencode", "user", clientfile.Location{Home: "/h"}, "/h/.config/opencode/opencode.json"},
		{"windsurf", "user", clientfile.Location{Home: "/h"}, "/h/.codeium/windsurf/mcp_config.json"},
		{"zed", "user", clientfile.Location{GOOS: "darwin", Home: "/h"}, "/h/.config/zed/settings.json"},
		{"copilot", "user", clientfile.Location{Home: "/h"}, "/h/.copilot/mcp-config.json"},
		{"qwen", "project", clientfile.Location{Dir: "/p"}, "/p/.qwen/settings.json"},
		{"windsurf", "project", clientfile.Location{Dir: "/p"}, "Windsurf has no configuration for a project; use the user's"},
		{"cursor", "user", clientfile.Location{}, "the environment names no home directory, which contains the configuration of Cursor; set HOME"},
	} {
		got, err := lookup(t, tt.id).Path(tt.scope, tt.place)
		if err != nil {
			got = err.Error()
		}
		if filepath.ToSlash(got) != tt.want {
			t.Errorf("%s: %s, want %s", tt.id, got, tt.want)
		}
	}
}

// TestEdits keeps everything else.
func TestEdits(t *testing.T) {
	t.Parallel()
	envVars := "env_vars = [" + quotedVariables("%q", ", ") + "]\n"
	for name, tt := range map[string]struct{ client, before, after string }{
		"comments and tabs": {"zed", "// mine\n{\n\t\"theme\": \"dark\", // nice\n\t/* servers */\n\t\"context_servers\": {\n\t\t\"other\": {\"command\": \"x\"}, // keep\n\t},\n}\n",
			"// mine\n{\n\t\"theme\": \"dark\", // nice\n\t/* servers */\n\t\"context_servers\": {\n\t\t\"other\": {\"command\": \"x\"}, // keep\n\t\t\"copse\": {\n\t\t\t\"command\": \"/opt/copse\",\n\t\t\t\"args\": [\n\t\t\t\t\"mcp\",\n\t\t\t\t\"serve\"\n\t\t\t]\n\t\t},\n\t},\n}\n"},
		"another is replaced": {"cursor", "{\"mcpServers\": {\"copse\": {\"command\": \"old\"}, \"z\": {}}}", "{\"mcpServers\": {\"copse\": {\"command\": \"/opt/copse\", \"args\": [\n        \"mcp\",\n        \"serve\"\n      ]}, \"z\": {}}}"},
		"what was added stays": {"cursor", "{\"mcpServers\": {\"copse\": {\"env\": {\"A\": \"b\"}, \"args\": [\"mcp\", \"serve\"], \"command\": \"/opt/copse\"}}}",
			"{\"mcpServers\": {\"copse\": {\"env\": {\"A\": \"b\"}, \"args\": [\"mcp\", \"serve\"], \"command\": \"/opt/copse\"}}}"},
		"TOML": {"codex", "# mine\nmodel = \"x\"\n\n[mcp_servers.other]\ncommand = \"y\"\n\n# about the rest\n[tools]\nweb = true\n",
			"# mine\nmodel = \"x\"\n\n[mcp_servers.other]\ncommand = \"y\"\n\n# about the rest\n[tools]\nweb = true\n\n[mcp_servers.copse]\ncommand = \"/opt/copse\"\nargs = [\"mcp\", \"serve\"]\n" + envVars},
		"TOML replaced": {"codex", "[mcp_servers.copse]\ncommand = \"old\"\n\n[mcp_servers.copse.env]\nA = \"b\"\n\n# about the rest\n[tools]\nweb = true\n",
			"[mcp_servers.copse]\ncommand = \"/opt/copse\"\nargs = [\"mcp\", \"serve\"]\n" + envVars + "\n[mcp_servers.copse.env]\nA = \"b\"\n\n# about the rest\n[tools]\nweb = true\n"},
		"TOML with what was added": {"codex", "[mcp_servers.copse]\nargs = [\"mcp\", \"serve\"]\ncommand = \"/opt/copse\" # here\nenabled = true\n",
			"[mcp_servers.copse]\nargs = [\"mcp\", \"serve\"]\ncommand = \"/opt/copse\" # here\nenabled = true\n" + envVars},
		"TOML in another form": {"codex", "[mcp_servers]\ncopse = { command = \"x\" }\n", "error: copse cannot edit the existing entry in this form; change it manually"},
		"no JSON":              {"cursor", "{", "error: it is not JSON: line 1, column 2: "},
		"a list":               {"cursor", "[]", "error: the servers are not an object"},
		"a list inside":        {"cursor", `{"mcpServers": []}`, `error: the servers are not an object: "mcpServers"`},
		"no TOML":              {"codex", "[[", "error: it is not TOML"},
		"line ends of Windows": {"cursor", "{\r\n    \"a\": 1\r\n}\r\n", "{\r\n    \"a\": 1,\r\n    \"mcpServers\": {\r\n        \"copse\": {\r\n            \"command\": \"/opt/copse\",\r\n            \"args\": [\r\n                \"mcp\",\r\n                \"serve\"\r\n            ]\r\n        }\r\n    }\r\n}\r\n"},
	} {
		c := lookup(t, tt.client)
		got, err := c.Set([]byte(tt.before), "copse", stdio)
		if err != nil {
			if !strings.HasPrefix("error: "+err.Error(), tt.after) {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if diff := cmp.Diff(tt.after, string(got)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if again, err := c.Set(got, "copse", stdio); err != nil || string(again) != string(got) {
			t.Errorf("%s: not the same twice: %v\n%s", name, err, again)
		}
	}
}

// TestKeepsWhatWasAdded sets an entry again, from another place and with other flags.
func TestKeepsWhatWasAdded(t *testing.T) {
	t.Parallel()
	moved := clientconfig.Server{Command: "/new/copse", Args: []string{"mcp", "serve", "--read-only", "--toolsets", "items,branches"}}
	for name, tt := range map[string]struct{ client, before, after string }{
		"arguments and variables": {
			"cursor", `{"mcpServers":{"copse":{"command":"/old/copse","args":["mcp","serve","-v","--toolsets=jira","--repo","/r"],"env":{"A":"b"},"cwd":"/c"}}}`,
			`{"mcpServers":{"copse":{"command":"/new/copse","args":["mcp","serve","-v","--repo","/r","--read-only","--toolsets","items,branches"],"env":{"A":"b"},"cwd":"/c"}}}`,
		},
		"a program in front": {
			"cursor", `{"mcpServers":{"copse":{"command":"direnv","args":["exec",".","/old/copse","mcp","serve"]}}}`,
			`{"mcpServers":{"copse":{"command":"direnv","args":["exec",".","/new/copse","mcp","serve","--read-only","--toolsets","items,branches"]}}}`,
		},
		"a program in front that finds copse by its name": {
			"cursor", `{"mcpServers":{"copse":{"command":"npx","args":["-y","copse","mcp","serve","-v"]}}}`,
			`{"mcpServers":{"copse":{"command":"npx","args":["-y","copse","mcp","serve","-v","--read-only","--toolsets","items,branches"]}}}`,
		},
		"a program of one's own": {
			"cursor", `{"mcpServers":{"copse":{"command":"/bin/with-secrets","args":["mcp","serve"]}}}`,
			`{"mcpServers":{"copse":{"command":"/bin/with-secrets","args":["mcp","serve","--read-only","--toolsets","items,branches"]}}}`,
		},
		"a shell": {
			"cursor", `{"mcpServers":{"copse":{"command":"sh","args":["-c",". ~/.keys; exec copse mcp serve -v"]}}}`,
			"error: a shell starts copse in the existing entry; change the flags in its command manually",
		},
		"settings": {
			"opencode", `{"mcp":{"copse":{"type":"local","command":["/old/copse","mcp","serve"],"enabled":false,"environment":{"A":"{env:B}"},"timeout":9}}}`,
			`{"mcp":{"copse":{"type":"local","command":["/new/copse","mcp","serve","--read-only","--toolsets","items,branches"],"enabled":false,"environment":{"A":"{env:B}"},"timeout":9}}}`,
		},
		"tools of Copilot": {
			"copilot", `{"mcpServers":{"copse":{"type":"local","command":"/new/copse","args":["mcp","serve","--read-only","--toolsets","items,branches"],"tools":["get_current_branch"],"env":{"GITHUB_TOKEN":"${MINE}"}}}}`,
			`{"mcpServers":{"copse":{"type":"stdio","command":"/new/copse","args":["mcp","serve","--read-only","--toolsets","items,branches"],"tools":["get_current_branch"],"env":{"GITHUB_TOKEN":"${MINE}"}}}}`,
		},
		"TOML": {
			"codex", "[mcp_servers.copse]\ncommand = '/old/copse' # mine\nargs = [\n  'mcp', # a\n  'serve', '-v',\n]\nenv_vars = [" + quotedVariables("%q", ", ") + ", \"X\"]\nstartup_timeout_sec = 5\n[mcp_servers.copse.env]\nA = 'b'\n",
			"[mcp_servers.copse]\ncommand = \"/new/copse\" # mine\nargs = [\"mcp\", \"serve\", \"-v\", \"--read-only\", \"--toolsets\", \"items,branches\"]\nenv_vars = [" + quotedVariables("%q", ", ") + ", \"X\"]\nstartup_timeout_sec = 5\n[mcp_servers.copse.env]\nA = 'b'\n",
		},
	} {
		got, err := lookup(t, tt.client).Set([]byte(tt.before), "copse", moved)
		if want, ok := strings.CutPrefix(tt.after, "error: "); ok {
			if err == nil || err.Error() != want {
				t.Errorf("%s: %v", name, err)
			}
			if got, err := lookup(t, tt.client).Set([]byte(tt.before), "copse", stdio); err != nil || string(got) != tt.before {
				t.Errorf("%s: %v, %s", name, err, got)
			}
			continue
		}
		text := string(got)
		if tt.client != "codex" {
			text = compact(t, got)
		}
		if err != nil || text != tt.after {
			t.Errorf("%s: %v\n%s", name, err, cmp.Diff(tt.after, text))
		}
	}
}

// compact returns JSON without spaces.
func compact(t *testing.T, text []byte) string {
	t.Helper()
	var b bytes.Buffer
	if err := json.Compact(&b, text); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestOtherTransport leaves nothing of the way in which the server was reached before.
func TestOtherTransport(t *testing.T) {
	t.Parallel()
	for _, id := range clientconfig.IDs() {
		c := lookup(t, id)
		if c.CheckHTTP() != nil {
			continue
		}
		started, err := c.Set(nil, "copse", stdio)
		if err != nil {
			t.Fatal(err)
		}
		fresh, err := c.Set(nil, "copse", http)
		if err != nil {
			t.Fatal(err)
		}
		for name, tt := range map[string]struct {
			from, to []byte
			server   clientconfig.Server
		}{"to HTTP": {started, fresh, http}, "to stdio": {fresh, started, stdio}} {
			got, err := c.Set(tt.from, "copse", tt.server)
			if err != nil {
				t.Fatal(err)
			}
			is, _ := c.Entries(got)
			want, _ := c.Entries(tt.to)
			if diff := cmp.Diff(want, is); diff != "" {
				t.Errorf("%s %s: %s\n%s", id, name, diff, got)
			}
		}
	}
}

// TestAside changes the transport of an entry and back. What a person added to it comes back, and
// what copse wrote is not stored.
func TestAside(t *testing.T) {
	t.Parallel()
	text := `{"mcpServers":{"copse":{"URL":"http://x","command":"copse","args":["mcp","serve"]}}}`
	if _, switched, err := lookup(t, "cursor").Aside([]byte(text), "copse", http); err != nil || !switched {
		t.Errorf("a name in another case: switched %t, %v", switched, err)
	}
	for _, id := range clientconfig.IDs() {
		c := lookup(t, id)
		if c.CheckHTTP() != nil {
			continue
		}
		text, err := c.Set(nil, "copse", stdio)
		if err != nil {
			t.Fatal(err)
		}
		if members, switched, err := c.Aside(text, "copse", http); err != nil || !switched || len(members) > 0 {
			t.Errorf("%s: %v of what copse wrote, switched %t, %v", id, members, switched, err)
		}
		old := strings.NewReplacer(`"serve"`, `"serve", "-v", "--repo", "/r"`, "/opt/copse", "/old/copse").Replace(string(text))
		if c.ID == "codex" {
			old = strings.Replace(old, `env_vars = [`, "startup_timeout_sec = 5\nenv_vars = [{ name = \"N\" }, \"MINE\", ", 1) + "[mcp_servers.copse.env]\nA = \"b\"\n"
		} else {
			env := "env"
			if id == "opencode" {
				env = "environment"
			}
			if strings.Contains(old, `"`+env+`": {`) {
				old = strings.Replace(old, `"`+env+`": {`, `"`+env+`": {"A": "b",`, 1)
			} else {
				old = strings.Replace(old, `"copse": {`, `"copse": {"`+env+`": {"A": "b"},`, 1)
			}
			old = strings.Replace(old, `"copse": {`, `"copse": {"timeout": 9,`, 1)
		}
		before, _ := c.Entries([]byte(old))
		aside, switched, err := c.Aside([]byte(old), "copse", http)
		if err != nil || !switched {
			t.Fatalf("%s: switched %t, %v", id, switched, err)
		}
		over, err := c.Set([]byte(old), "copse", http)
		if err != nil {
			t.Fatal(err)
		}
		header := strings.Replace(string(over), `"Authorization"`, `"X-Mine": "1", "Authorization"`, 1)
		if c.ID == "codex" {
			header = strings.Replace(string(over), "{ Auth", `{ X-Mine = "1", Auth`, 1)
		}
		headers, switched, err := c.Aside([]byte(header), "copse", stdio)
		if err != nil || !switched || strings.Contains(fmt.Sprint(headers), http.Token) || !strings.Contains(fmt.Sprint(headers), "X-Mine") {
			t.Errorf("%s: %v, switched %t, %v", id, headers, switched, err)
		}
		back := stdio
		back.Aside = throughJSON(t, aside)
		again, err := c.Set([]byte(header), "copse", back)
		if err != nil {
			t.Fatal(err)
		}
		after, err := c.Entries(again)
		before[0].Command = stdio.Command
		if diff := cmp.Diff(before, after); err != nil || diff != "" {
			t.Errorf("%s: %v, %s\n%s", id, err, diff, again)
		}
		if !strings.Contains(string(again), "timeout") {
			t.Errorf("%s loses a setting:\n%s", id, again)
		}
		web := http
		web.Aside = throughJSON(t, headers)
		if over, err = c.Set(again, "copse", web); err != nil || !strings.Contains(string(over), "X-Mine") || !strings.Contains(string(over), http.Token) {
			t.Errorf("%s: %v, headers in\n%s", id, err, over)
		}
		if fresh, err := c.Set(nil, "copse", back); err != nil || strings.Contains(string(fresh), "/r") {
			t.Errorf("%s: %v, a new entry has\n%s", id, err, fresh)
		}
	}
}

// throughJSON returns what a store of members returns.
func throughJSON(t *testing.T, members map[string]any) (stored map[string]any) {
	t.Helper()
	data, err := json.Marshal(members)
	if err == nil {
		err = json.Unmarshal(data, &stored)
	}
	if err != nil {
		t.Fatal(err)
	}
	return stored
}

// TestStart pins which entries a client uses, and how it reads them. The rules of Claude Code,
// Codex, Gemini CLI, opencode, Copilot CLI, and Qwen Code were found by running them.
func TestStart(t *testing.T) {
	t.Parallel()
	const all = `"${BIN}|$BIN|{env:BIN}|${env:BIN}|${NONE}|${NONE:-d}|{env:NONE}"`
	entry := func(more string) string {
		return `{"command": "copse", "args": ["mcp", "serve", ` + all + `]` + more + `}`
	}
	for _, tt := range []struct{ client, entry, arg, refused string }{
		{"claude-code", entry(""), "/b|$BIN|{env:BIN}|${env:BIN}|${NONE}|d|{env:NONE}", ""},
		{"claude-code", entry(`, "type": "local"`), "", `has the type "local"`},
		{"claude-code", entry(`, "env": {"A": 1}`), "", "not a string"},
		{"claude-code", `{"command": "copse", "args": ["mcp", "serve", 1]}`, "", "not a string"},
		{"claude-code", entry(`, "disabled": true, "enabled": false`), "/b|$BIN|{env:BIN}|${env:BIN}|${NONE}|d|{env:NONE}", ""},
		{"claude-code", `{"url": "http://localhost:1/mcp"}`, "", `no "type": "http"`},
		{"claude-code", `{"type": "http"}`, "", "no url"},
		{"gemini", entry(""), "/b|/b|{env:BIN}|${env:BIN}|${NONE}|d|{env:NONE}", ""},
		{"gemini", entry(`, "env": {"A": 1}`), "", "not a string"},
		{"gemini", entry(`, "disabled": true`), "/b|/b|{env:BIN}|${env:BIN}|${NONE}|d|{env:NONE}", ""},
		{"qwen", entry(`, "env": {"A": 1}`), "/b|/b|{env:BIN}|${env:BIN}|${NONE}|${NONE:-d}|{env:NONE}", ""},
		{"copilot", entry(""), "/b|/b|{env:BIN}|${env:BIN}|${NONE}|d|{env:NONE}", ""},
		{"copilot", entry(`, "disabled": true`), "", "is disabled"},
		{"copilot", entry(`, "tools": []`), "", "empty list of tools"},
		{"copilot", entry(`, "type": "http"`), "", "no url"},
		{"opencode", `{"type": "local", "command": ["copse", "mcp", "serve", ` + all + `]}`, "${BIN}|$BIN|/b|$/b|${NONE}|${NONE:-d}|", ""},
		{"opencode", `{"type": "local", "command": ["copse", "mcp", "serve"], "enabled": false}`, "", "is disabled"},
		{"opencode", `{"command": ["copse", "mcp", "serve"]}`, "", "use local or remote"},
		{"opencode", `{"type": "local", "command": ["copse", "mcp", "serve"], "environment": {"A": 1}}`, "", "refuses the file"},
		{"vscode", entry(""), "${BIN}|$BIN|{env:BIN}|/b|${NONE}|${NONE:-d}|{env:NONE}", ""},
		{"zed", entry(`, "enabled": false`), "", "is disabled"},
		{"windsurf", entry(`, "disabled": true`), "", "is disabled"},
	} {
		c := lookup(t, tt.client)
		text, err := c.Set(nil, "copse", stdio)
		if err != nil {
			t.Fatal(err)
		}
		at := strings.Index(string(text), `"copse": {`) + len(`"copse": `)
		found, err := c.Entries([]byte(string(text[:at]) + tt.entry + "}}"))
		if err != nil || len(found) != 1 {
			t.Fatalf("%s: %s: %v, %v", tt.client, tt.entry, found, err)
		}
		if got := found[0].Refused; (got == "") != (tt.refused == "") || !strings.Contains(got, tt.refused) {
			t.Errorf("%s refuses %s: %q", tt.client, tt.entry, got)
		}
		if read := c.Expanded([]string{"BIN=/b"}, "/p", "/h", found[0]); tt.arg != "" && read.Args[2] != tt.arg {
			t.Errorf("%s reads %s", tt.client, read.Args[2])
		}
	}
	for _, tt := range []struct{ client, text, want string }{
		{"claude-code", `{"projects": {"/main": {"disabledMcpServers": ["copse"]}}}`, "is disabled for this project"},
		{"claude-code", `{"projects": {"/q": {"disabledMcpServers": ["copse"]}, "/p": {"disabledMcpServers": 1}}}`, ""},
		{"gemini", `{"mcp": {"excluded": ["copse"]}} // mine` + "\n", "is blocked"},
		{"gemini", `{"mcp": {"allowed": ["other"]}}`, "is blocked"},
		{"gemini", `{"mcp": {"allowed": ["copse"], "excluded": ["other"]}}`, ""},
		{"opencode", `{"mcp": {"excluded": ["copse"]}}`, ""},
		// A client does not read a name in another case, and what it makes of one that occurs twice is not known.
		{"gemini", `{"MCP": {"excluded": ["copse"]}}`, ""}, {"gemini", `{"mcp": {"Excluded": ["copse"], "ALLOWED": []}}`, ""},
		{"gemini", `{"mcp": {"excluded": []}, "Mcp": {"excluded": ["copse"]}}`, ""}, {"gemini", `{"mcp": {"excluded": ["copse"]}, "MCP": 1}`, "is blocked"},
		{"gemini", `{"mcp": {"excluded": ["copse"]}, "mcp": 1}`, ""}, {"gemini", `{"mcp": {"excluded": ["copse"], "excluded": []}}`, ""},
		{"claude-code", `{"Projects": {"/p": {"disabledMcpServers": ["copse"]}}}`, ""}, {"claude-code", `{"projects": {"/p": {"DisabledMCPServers": ["copse"]}}}`, ""},
		{"gemini", `{`, ""}, {"gemini", ``, ""}, {"gemini", `{"mcp": 1}`, ""},
	} {
		if got := lookup(t, tt.client).Excludes([]byte(tt.text), "/p", "/main")("copse"); (got == "") != (tt.want == "") || !strings.HasPrefix(got, tt.want) {
			t.Errorf("%s with %s: %q", tt.client, tt.text, got)
		}
	}
	codex := lookup(t, "codex")
	if found, err := codex.Entries([]byte("[mcp_servers.copse]\ncommand = 'copse'\nenabled = false\n")); err != nil || !strings.Contains(found[0].Refused, "is disabled") {
		t.Errorf("got %v, %v", found, err)
	}
	for text, want := range map[string]bool{"": false, "[projects.'/p']\ntrust_level = 'trusted'": true, "[projects.'/p']\ntrust_level = 'untrusted'": false, "[projects.'/q']\ntrust_level = 'trusted'": false,
		"[Projects.'/p']\ntrust_level = 'trusted'": false, "[projects.'/p']\nTrust_Level = 'trusted'": false, "[projects]\n'/q' = 1\n[projects.'/p']\ntrust_level = 'trusted'": true} {
		if got := codex.Trusts([]byte(text), "/p", "/main"); got != want {
			t.Errorf("%q: trusted %t", text, got)
		}
	}
}

// TestEnviron pins what a server gets from each client, by what install writes and by what
// people write. The rules were found by running the clients.
func TestEnviron(t *testing.T) {
	t.Parallel()
	parent := []string{"HOME=/h", "PATH=/bin", "GH_TOKEN=a", "GITHUB_TOKEN=b", "JIRA_HOST=j", "SSH_AUTH_SOCK=/s", "XDG_STATE_HOME=/x", "EDITOR=vi", "REMOTE=https://u:p@h/"}
	for _, tt := range []struct {
		client string
		env    map[string]string
		extra  []string
		want   string
	}{
		{"codex", nil, nil, "HOME=/h PATH=/bin"},
		{"codex", map[string]string{"A": "$HOME"}, []string{"GH_TOKEN", "NOT_SET"}, "A=$HOME GH_TOKEN=a HOME=/h PATH=/bin"},
		{"gemini", nil, nil, "EDITOR=vi HOME=/h JIRA_HOST=j PATH=/bin XDG_STATE_HOME=/x"},
		{"gemini", map[string]string{"GH_TOKEN": "$GH_TOKEN", "B": "${NONE:-c}", "C": "$NONE"}, nil, "B=c C= EDITOR=vi GH_TOKEN=a HOME=/h JIRA_HOST=j PATH=/bin XDG_STATE_HOME=/x"},
		{"gemini", nil, []string{"+GITHUB_SHA=1"}, "HOME=/h PATH=/bin"},
		{"claude-code", map[string]string{"A": "${NONE}", "B": "$HOME"}, []string{"+CLAUDE_CODE_MCP_ALLOWLIST_ENV=1"}, "A=${NONE} B=$HOME HOME=/h PATH=/bin"},
		{"claude-desktop", nil, nil, "HOME=/h PATH=/bin"},
		{"copilot", nil, nil, "EDITOR=vi GH_TOKEN=a HOME=/h JIRA_HOST=j PATH=/bin REMOTE=https://u:p@h/ SSH_AUTH_SOCK=/s XDG_STATE_HOME=/x"},
		{"copilot", map[string]string{"GITHUB_TOKEN": "${GITHUB_TOKEN}"}, nil, "EDITOR=vi GH_TOKEN=a GITHUB_TOKEN=b HOME=/h JIRA_HOST=j PATH=/bin REMOTE=https://u:p@h/ SSH_AUTH_SOCK=/s XDG_STATE_HOME=/x"},
		{"opencode", map[string]string{"A": "{env:JIRA_HOST}{env:NONE}"}, nil, "A=j " + sorted(parent)},
	} {
		c, from, s := lookup(t, tt.client), parent, clientconfig.Server{Env: tt.env}
		for _, name := range tt.extra {
			if kv, ok := strings.CutPrefix(name, "+"); ok {
				from = append(slices.Clone(parent), kv)
			} else {
				s.EnvVars = append(s.EnvVars, name)
			}
		}
		if got := strings.Join(c.Environ(from, s), " "); got != tt.want {
			t.Errorf("%s with %v and %v:\n got %s\nwant %s", tt.client, tt.env, tt.extra, got, tt.want)
		}
	}
	// What install writes lets all of it through, and only names.
	for _, id := range clientconfig.IDs() {
		if id == "claude-desktop" {
			continue // it knows no references
		}
		c := lookup(t, id)
		text, err := c.Set(nil, "copse", stdio)
		if err != nil {
			t.Fatal(err)
		}
		all, err := c.Entries(text)
		if err != nil {
			t.Fatal(err)
		}
		if names := c.Withheld(parent, all[0].Server); len(names) > 0 {
			t.Errorf("%s does not pass on %q", id, names)
		}
		bare := all[0].Server
		bare.Env, bare.EnvVars = nil, nil
		if names := c.Withheld(parent, bare); slices.Contains([]string{"codex", "gemini", "copilot"}, id) != (len(names) > 0) {
			t.Errorf("%s without what install writes withholds %q", id, names)
		}
	}
}

func sorted(list []string) string {
	return strings.Join(slices.Sorted(slices.Values(list)), " ")
}

// TestSetAndRemove gives the same text back.
func TestSetAndRemove(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ client, text string }{
		{"cursor", "{}\n"}, {"cursor", "{\n  \"a\": 1\n}\n"}, {"cursor", "{\n  // only a comment\n}\n"}, {"cursor", "{\n  \"mcpServers\": {\n    \"x\": {}\n  }\n}\n"},
		{"zed", "// first\n{\n  \"a\": [1, 2,], // one\n  \"context_servers\": {\n    // about x\n    \"x\": {},\n  },\n  /* last */\n}\n"},
		{"codex", "# mine\nmodel = \"x\"\n"}, {"codex", "[a]\nb = 1\n\n# end\n"}, {"codex", ""},
	} {
		c := lookup(t, tt.client)
		set, err := c.Set([]byte(tt.text), "copse", http)
		if err != nil {
			t.Fatal(err)
		}
		removed, err := c.Remove(set, "copse")
		if err != nil || normal(removed) != normal([]byte(tt.text)) {
			t.Errorf("%s: %v: %q became %q", tt.client, err, tt.text, removed)
		}
		if again, err := c.Remove(removed, "copse"); err != nil || string(again) != string(removed) {
			t.Errorf("%s: removed twice: %v, %q", tt.client, err, again)
		}
	}
}

// normal returns a text without the spaces and commas at line ends, which an editor may add.
func normal(text []byte) string {
	var lines []string
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimRight(line, " ,\n"); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.ReplaceAll(strings.ReplaceAll(strings.Join(lines, "\n"), "{\n}", "{}"), ",", "")
}

// Whatever is in a file, the result is a file, and has the rest. A key with servers that occurs twice is an error.
func TestAnyJSON(t *testing.T) {
	t.Parallel()
	c := lookup(t, "vscode")
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.SampledFrom([]string{"{", "{ ", "{\n", "{ // x\n", "{/* y */"}).Draw(rt, "open") +
			strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{
				`"a": 1`, `"servers": {}`, `"servers": {"x": {"command": "y"}}`, "\n  \"b\": [1, 2]", "// z\n \"c\": null", `"servers": {"copse": {"command": "old"}, /* k */ "q": 1}`,
			}), 0, 4).Draw(rt, "members"), ",") + rapid.SampledFrom([]string{"}", "\n}\n", " // end\n}"}).Draw(rt, "close")
		got, err := c.Set([]byte(text), "copse", stdio)
		if strings.Count(text, `"servers"`) > 1 {
			if err == nil {
				rt.Errorf("%q became %q, but clients use another of the keys", text, got)
			}
			return
		}
		if err != nil {
			rt.Fatalf("%q: %v", text, err)
		}
		if _, err := hujson.Parse(got); err != nil {
			rt.Fatalf("%q became %q: %v", text, got, err)
		}
		for _, comment := range []string{"// x", "/* y */", "// z", "// end", "/* k */"} {
			if strings.Count(text, comment) != strings.Count(string(got), comment) {
				rt.Errorf("%q became %q without %s", text, got, comment)
			}
		}
		if again, err := c.Set(got, "copse", stdio); err != nil || string(again) != string(got) {
			rt.Errorf("%q: not the same twice: %v, %q", text, err, again)
		}
		removed, err := c.Remove(got, "copse")
		if err != nil || strings.Contains(string(removed), "/opt/copse") {
			rt.Errorf("%q: removed is %q, %v", got, removed, err)
		}
		if _, err := hujson.Parse(removed); err != nil {
			rt.Errorf("%q: %v", removed, err)
		}
	})
}

// Copilot CLI refuses a file without its object of servers.
func TestKeepsServers(t *testing.T) {
	t.Parallel()
	c := lookup(t, "copilot")
	set, err := c.Set(nil, "copse", stdio)
	if err != nil {
		t.Fatal(err)
	}
	if removed, err := c.Remove(set, "copse"); err != nil || compact(t, removed) != `{"mcpServers":{}}` {
		t.Errorf("got %s, %v", removed, err)
	}
}

func TestEntriesOfFiles(t *testing.T) {
	t.Parallel()
	for _, id := range clientconfig.IDs() {
		c := lookup(t, id)
		text, err := c.Set(nil, "copse", stdio)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := c.Entries(text); err != nil || len(got) != 1 || got[0].Name != "copse" || got[0].Command != stdio.Command || !cmp.Equal(got[0].Args, stdio.Args) {
			t.Errorf("%s: %+v, %v", id, got, err)
		}
		if text, err = c.Set(text, "web", http); err != nil {
			continue // it knows no HTTP
		}
		if got, err := c.Entries(text); err != nil || len(got) != 2 || got[1].URL != http.URL {
			t.Errorf("%s: %+v, %v", id, got, err)
		}
	}
	if got, err := lookup(t, "cursor").Entries([]byte(`{"mcpServers": {"a": [], "b": {"command": 7}}, // x
}`)); err != nil || len(got) != 1 {
		t.Errorf("got %+v, %v", got, err)
	}
	if _, err := lookup(t, "codex").Entries([]byte(`mcp_servers = 7`)); err == nil {
		t.Error("a number has entries")
	}
}

// Users can move the files of clients with the clients' own variables.
func TestMovedFiles(t *testing.T) {
	t.Parallel()
	for id, tt := range map[string]struct{ variable, file, hooks string }{
		"claude-code": {"CLAUDE_CONFIG_DIR", ".claude.json", "settings.json"},
		"codex":       {"CODEX_HOME", "config.toml", "hooks.json"},
		"gemini":      {"GEMINI_CLI_HOME", ".gemini/settings.json", ".gemini/settings.json"},
		"copilot":     {"COPILOT_HOME", "mcp-config.json", "hooks/copse.json"},
		"qwen":        {"QWEN_HOME", "settings.json", ""},
		"cursor":      {"", ".cursor/mcp.json", ""},
	} {
		c := lookup(t, id)
		set := map[string]string{tt.variable: filepath.FromSlash("/moved")}
		place := clientfile.Location{GOOS: "linux", Home: filepath.FromSlash("/home/u"), Dir: filepath.FromSlash("/project"), Getenv: func(name string) string { return set[name] }}
		base := "/moved"
		if tt.variable == "" {
			base = place.Home
		}
		if got, err := c.Path(clientfile.User, place); err != nil || got != filepath.Join(base, filepath.FromSlash(tt.file)) {
			t.Errorf("%s: %s, %v", id, got, err)
		}
		if tt.hooks != "" {
			if got, err := hookPath(c, place); err != nil || got != filepath.Join(base, filepath.FromSlash(tt.hooks)) {
				t.Errorf("%s: %s, %v", id, got, err)
			}
		}
		set[tt.variable] = "here"
		if got, err := c.Path(clientfile.User, place); tt.variable != "" && (err == nil || !strings.Contains(err.Error(), tt.variable+` is "here"`)) {
			t.Errorf("%s with a relative path: %s, %v", id, got, err)
		}
	}
}

func hookPath(c clientconfig.Client, l clientfile.Location) (string, error) {
	h, err := sessionhook.For(c.ID, c.Title)
	if err != nil {
		return "", err
	}
	return h.Path(clientfile.User, l)
}

// An entry that copse has made has nothing that somebody else chose, for every client.
func TestChosen(t *testing.T) {
	t.Parallel()
	for _, id := range clientconfig.IDs() {
		c, err := clientconfig.Lookup(id)
		if err != nil {
			t.Fatal(err)
		}
		text, err := c.Set(nil, "copse", clientconfig.Server{Command: "copse", Args: []string{"mcp", "serve", "--toolsets", "items"}})
		if err != nil {
			t.Fatal(err)
		}
		all, err := c.Entries(text)
		if err != nil || len(all) != 1 {
			t.Fatalf("%s: %v, %v", id, all, err)
		}
		if got := c.Chosen(all[0]); got != "" {
			t.Errorf("%s: %s", id, got)
		}
		for _, change := range []func(*clientconfig.Named){
			func(s *clientconfig.Named) { s.Command = "./copse" },
			func(s *clientconfig.Named) { s.Args = append([]string{"-c"}, s.Args...) },
			func(s *clientconfig.Named) { s.Args = append(s.Args, "--repo", "/") },
			func(s *clientconfig.Named) { s.Dir = "sub" },
			func(s *clientconfig.Named) { s.Env = map[string]string{"LD_PRELOAD": "x"} },
			func(s *clientconfig.Named) { s.EnvVars = []string{"SECRET"} },
			func(s *clientconfig.Named) { s.Others = []string{"envFile"} },
		} {
			s := all[0]
			if change(&s); c.Chosen(s) == "" {
				t.Errorf("%s: %+v has nothing chosen", id, s)
			}
		}
	}
}

// Entries names the members that could change what a client starts.
func TestOthers(t *testing.T) {
	t.Parallel()
	c, err := clientconfig.Lookup("vscode")
	if err != nil {
		t.Fatal(err)
	}
	all, err := c.Entries([]byte(`{"servers":{"copse":{"type":"stdio","command":"copse","args":["mcp","serve"],"envFile":"x","dev":{}}}}`))
	if err != nil || len(all) != 1 || fmt.Sprint(all[0].Others) != "[dev envFile]" {
		t.Errorf("%+v, %v", all, err)
	}
}
