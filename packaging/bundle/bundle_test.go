package main

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/copse-dev/copse/internal/test/need"
)

const version = "1.2.3"

// output runs a program and returns what it printed on stdout.
func output(t *testing.T, dir, input string, argv ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(input)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s%s", strings.Join(argv, " "), err, out, stderr.String())
	}
	return string(out)
}

// bundled makes the packages of a program for this platform, built as a release is.
func bundled(t *testing.T) (out string) {
	t.Helper()
	dir := t.TempDir()
	program := filepath.Join(dir, "copse")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-o", program,
		"-ldflags", "-s -w -X github.com/copse-dev/copse/internal/app.release=v"+version+" -X github.com/copse-dev/copse/internal/app.packager=goreleaser",
		"github.com/copse-dev/copse/cmd/copse")
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	list := []map[string]any{
		{"name": "copse", "path": program, "goos": runtime.GOOS, "goarch": runtime.GOARCH, "type": "Binary", "extra": map[string]string{"ID": "copse"}},
		{"name": "tic", "path": program, "goos": runtime.GOOS, "goarch": runtime.GOARCH, "type": "Binary", "extra": map[string]string{"ID": "tic"}},
		{"name": "checksums.txt", "path": "dist/checksums.txt", "type": "Checksum", "extra": map[string]any{}},
	}
	data, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	artifacts := filepath.Join(dir, "artifacts.json")
	if err := os.WriteFile(artifacts, data, 0o600); err != nil {
		t.Fatal(err)
	}
	assets := filepath.Join(dir, "assets")
	output(t, "", "", "go", "run", "../assets", assets)
	out = filepath.Join(dir, "bundle")
	if err := run("v"+version, artifacts, filepath.Join(assets, "man"), filepath.Join("..", "..", licenseFile), out); err != nil {
		t.Fatal(err)
	}
	return out
}

// ask is a conversation in which a server lists its tools.
const ask = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"0"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/list"}
`

// listsTools checks that a server of this version lists all tools, unconfigured.
func listsTools(t *testing.T, answer string) {
	t.Helper()
	if n := strings.Count(answer, `"inputSchema"`); n != 41 || !strings.Contains(answer, `"version":"v`+version+`"`) {
		t.Errorf("%d tools in %.300s", n, answer)
	}
}

func TestPackages(t *testing.T) {
	t.Parallel()
	out := bundled(t)
	t.Run("npm", func(t *testing.T) { t.Parallel(); npmPackages(t, filepath.Join(out, "npm")) })
	t.Run("mcpb", func(t *testing.T) { t.Parallel(); mcpbBundle(t, filepath.Join(out, "mcpb")) })
	t.Run("registry", func(t *testing.T) { t.Parallel(); registryEntry(t, filepath.Join(out, "server.json")) })
	// It builds the program again, and finds in Go's cache what bundled has compiled.
	t.Run("system", func(t *testing.T) { t.Parallel(); systemPackages(t) })
	t.Run("image", func(t *testing.T) { t.Parallel(); containerImage(t, filepath.Join(out, "npm")) })
}

// npmPackages installs the packages as npx would, and starts what they have.
func npmPackages(t *testing.T, directory string) {
	npm := need.Program(t, "npm")
	dir := t.TempDir()
	platform := nodeOS[runtime.GOOS] + "-" + nodeCPU[runtime.GOARCH]
	output(t, dir, "", npm, "init", "-y")
	// Packed first: npm would link directories.
	for _, one := range []string{platform, "copse"} {
		output(t, dir, "", npm, "pack", "--silent", filepath.Join(directory, one))
	}
	output(t, dir, "", npm, "install", "--offline", "--no-audit", "--no-fund", "--loglevel=error",
		"./copse-dev-copse-"+platform+"-"+version+".tgz", "./copse-dev-copse-"+version+".tgz")
	program := filepath.Join(dir, "node_modules", ".bin", "copse")
	if got := output(t, dir, "", program, "version"); !strings.HasPrefix(got, "copse v"+version+" (") || !strings.Contains(got, "built by goreleaser") {
		t.Errorf("got %s", got)
	}
	listsTools(t, output(t, dir, ask, program, "mcp", "serve"))
	// A global installation puts the manual pages where man finds them.
	prefix := t.TempDir()
	output(t, dir, "", npm, "install", "--global", "--prefix", prefix, "--offline", "--no-audit", "--no-fund", "--loglevel=error",
		"./copse-dev-copse-"+platform+"-"+version+".tgz", "./copse-dev-copse-"+version+".tgz")
	for _, page := range []string{"copse.1.gz", "copse-item-claim.1.gz"} {
		if _, err := os.Stat(filepath.Join(prefix, "share", "man", "man1", page)); err != nil {
			t.Error(err)
		}
	}
	// Clients start a file other than the launcher on the PATH, and the doctor accepts it.
	doctor := exec.CommandContext(t.Context(), filepath.Join(prefix, "bin", "copse"), "mcp", "doctor")
	doctor.Env = append(os.Environ(), "HOME="+t.TempDir(), "PATH="+filepath.Join(prefix, "bin")+string(filepath.ListSeparator)+os.Getenv("PATH"))
	doctor.Dir = dir
	if found, _ := doctor.Output(); !strings.HasPrefix(string(found), "ok\tprogram\tcopse v"+version+" at ") { // the directory is not a repository
		t.Errorf("the doctor prints %s", found)
	}
	for _, one := range []string{"copse", "copse-" + platform} {
		installed := filepath.Join(dir, "node_modules", scope, one)
		if _, err := os.Stat(filepath.Join(installed, licenseFile)); err != nil {
			t.Error(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), program, "nothing")
	if err := cmd.Run(); cmd.ProcessState.ExitCode() != 2 {
		t.Errorf("a usage error ends with %v", err)
	}
}

// mcpbBundle lets the format's own tool look at the bundle, and starts what is in it.
func mcpbBundle(t *testing.T, directory string) {
	files, err := filepath.Glob(filepath.Join(directory, "*.mcpb"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	archive, err := zip.OpenReader(files[0])
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close()
	dir := t.TempDir()
	for _, f := range archive.File {
		in, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(in)
		if err != nil {
			t.Fatal(err)
		}
		if err := put(filepath.Join(dir, f.Name), data, f.Mode()); err != nil {
			t.Fatal(err)
		}
	}
	listsTools(t, output(t, dir, ask, filepath.Join(dir, "bin", program{goos: runtime.GOOS}.file()), "mcp", "serve"))
	listsTools(t, configured(t, dir, nil))
	if n := strings.Count(configured(t, dir, map[string]string{"read_only": "true", "toolsets": "items"}), `"inputSchema"`); n == 0 || n > 10 {
		t.Errorf("%d read-only tools of items are served", n)
	}
	tool := filepath.Join("..", "..", "internal", "test", "clients", "node_modules", ".bin", "mcpb")
	if !need.Present(tool) {
		need.Skip(t, "mcpb is not installed; run npm ci in internal/test/clients")
	}
	tool, err = filepath.Abs(tool)
	if err != nil {
		t.Fatal(err)
	}
	if got := output(t, dir, "", tool, "validate", "manifest.json"); !strings.Contains(got, "passes") {
		t.Errorf("got %s", got)
	}
	if got := output(t, dir, "", tool, "info", files[0]); !strings.Contains(got, filepath.Base(files[0])) {
		t.Errorf("got %s", got)
	}
}

// configured starts the server of an unpacked bundle as a client does, with the default
// settings except the given ones, and returns its list of tools.
func configured(t *testing.T, dir string, settings map[string]string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	var m manifest
	if err := json.Unmarshal(text, &m); err != nil {
		t.Fatal(err)
	}
	fill := func(s string) string {
		s = strings.ReplaceAll(s, "${__dirname}", dir)
		for key, o := range m.UserConfig {
			value, given := settings[key]
			if !given {
				value = fmt.Sprint(o.Default)
			}
			if key == "repository" {
				value = dir
			}
			s = strings.ReplaceAll(s, "${user_config."+key+"}", value)
		}
		if strings.Contains(s, "${") {
			t.Errorf("%q refers to a setting that does not exist", s)
		}
		return s
	}
	var args []string
	for _, a := range m.Server.MCPConfig.Args {
		args = append(args, fill(a))
	}
	cmd := exec.CommandContext(t.Context(), fill(m.Server.MCPConfig.Command), args...)
	cmd.Stdin = strings.NewReader(ask)
	cmd.Env = append(os.Environ(), "HOME="+dir)
	for name, value := range m.Server.MCPConfig.Env {
		cmd.Env = append(cmd.Env, name+"="+fill(value))
	}
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// registryEntry holds server.json against the schema that the registry checks with.
func registryEntry(t *testing.T, path string) {
	const module = "github.com/modelcontextprotocol/registry@v1.8.7"
	cmd := exec.CommandContext(t.Context(), "go", "mod", "download", "-json", module)
	cmd.Dir = t.TempDir() // outside this module, which does not need that one
	found, err := cmd.Output()
	if err != nil {
		need.Skip(t, "the schema is in the module "+module+", which cannot be had here: "+err.Error())
	}
	var at struct{ Dir string }
	if err := json.Unmarshal(found, &at); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(at.Dir, "internal", "validators", "schemas", "2025-12-11.json"))
	if err != nil {
		t.Fatal(err)
	}
	var schema jsonschema.Schema
	if err := json.Unmarshal(data, &schema); err != nil {
		t.Fatal(err)
	}
	resolved, err := schema.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var document map[string]any
	if err := json.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	if err := resolved.Validate(document); err != nil {
		t.Errorf("%v\n%s", err, text)
	}
	// The check can fail.
	document["name"] = "no slash"
	if err := resolved.Validate(document); err == nil {
		t.Error("a wrong name passes")
	}
}

func absolute(t *testing.T, path string) string {
	t.Helper()
	path, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	empty := filepath.Join(dir, "artifacts.json")
	if err := os.WriteFile(empty, []byte("[]"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ version, artifacts, want string }{
		{"1.2.3", empty, `invalid value "1.2.3" for -version: use one such as v1.2.3`},
		{"v1.2.3", filepath.Join(dir, "none"), "no such file"},
		{"v1.2.3", empty, "names no program copse"},
	} {
		if err := run(tt.version, tt.artifacts, dir, filepath.Join("..", "..", licenseFile), dir); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("got %v, want %s", err, tt.want)
		}
	}
}
