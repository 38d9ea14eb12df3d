package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/copse-dev/copse/internal/test/need"
)

// systemPackages lets goreleaser make the deb and the rpm as a release does, installs each in
// a root directory that has nothing else, and starts the server there.
func systemPackages(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the packages are those of Linux")
	}
	goreleaser := need.Program(t, "goreleaser")
	if os.Getuid() != 0 {
		need.Skip(t, "only root installs packages")
	}
	dir := t.TempDir()
	repository := absolute(t, filepath.Join("..", ".."))
	config := filepath.Join(dir, "goreleaser.yaml")
	text, err := yaml.Marshal(linuxPackages(t, filepath.Join(repository, ".goreleaser.yaml"), dir))
	if err == nil {
		err = os.WriteFile(config, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	output(t, repository, "", goreleaser, "release", "--snapshot", "--config", config)
	for kind, install := range map[string][][]string{
		"deb": {{"dpkg", "--root=ROOT", "--install", "PACKAGE"}, {"dpkg", "--root=ROOT", "--verify", "copse"}},
		"rpm": {{"rpm", "--root", "ROOT", "--initdb"}, {"rpm", "--root", "ROOT", "--install", "PACKAGE"}, {"rpm", "--root", "ROOT", "--verify", "copse"}},
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			files, err := filepath.Glob(filepath.Join(dir, "dist", "*."+kind))
			if err != nil || len(files) != 1 {
				t.Fatal(files, err)
			}
			root := t.TempDir()
			for _, name := range []string{"updates", "info", "triggers"} {
				if err := os.MkdirAll(filepath.Join(root, "var", "lib", "dpkg", name), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			if err := put(filepath.Join(root, "var", "lib", "dpkg", "status"), nil, 0o644); err != nil {
				t.Fatal(err)
			}
			for _, argv := range install {
				need.Program(t, argv[0])
				replaced := strings.NewReplacer("ROOT", root, "PACKAGE", files[0])
				for i, arg := range argv {
					argv[i] = replaced.Replace(arg)
				}
				output(t, root, "", argv...)
			}
			installed(t, root, filepath.Join(dir, "assets"), zshDirectories[kind])
			remove := map[string][]string{"deb": {"dpkg", "--root=" + root, "--remove", "copse"}, "rpm": {"rpm", "--root", root, "--erase", "copse"}}
			output(t, root, "", remove[kind]...)
			for _, pattern := range []string{"*/*copse*", "*/*/*copse*", "*/*/*/*copse*"} {
				if left, err := filepath.Glob(filepath.Join(root, "usr", pattern)); err != nil || len(left) > 0 {
					t.Errorf("after it was removed: %q, %v", left, err)
				}
			}
		})
	}
}

// linuxPackages returns the configuration of a release, reduced to the packages for this
// machine. Everything that it makes is below dir.
func linuxPackages(t *testing.T, path, dir string) map[string]any {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var config map[string]any
	moved := strings.ReplaceAll(string(text), "build/assets", filepath.ToSlash(filepath.Join(dir, "assets")))
	if err := yaml.Unmarshal([]byte(moved), &config); err != nil {
		t.Fatal(err)
	}
	for key := range config {
		if !slices.Contains([]string{"version", "project_name", "before", "builds", "nfpms"}, key) {
			delete(config, key)
		}
	}
	config["dist"] = filepath.Join(dir, "dist")
	config["before"] = map[string]any{"hooks": []string{"go run ./packaging/assets " + filepath.Join(dir, "assets")}}
	var builds []any
	for _, one := range config["builds"].([]any) {
		build := one.(map[string]any)
		if build["id"] == "tic" {
			continue
		}
		build["targets"] = []string{"linux_" + runtime.GOARCH}
		builds = append(builds, build)
	}
	config["builds"] = builds
	return config
}

// zshDirectories are the directories in which zsh looks for completions, by the kind of package.
var zshDirectories = map[string]string{"deb": "vendor-completions", "rpm": "site-functions"}

// installed checks what a package has put into a root directory, and calls the server there.
func installed(t *testing.T, root, assets, zsh string) {
	t.Helper()
	pages, err := filepath.Glob(filepath.Join(assets, "man", "*.1.gz"))
	if err != nil || len(pages) < 50 {
		t.Fatal(pages, err)
	}
	want := []string{
		"usr/bin/copse", "usr/bin/twig-mcp", "usr/share/doc/copse/copyright", "usr/share/bash-completion/completions/copse",
		"usr/share/zsh/" + zsh + "/_copse", "usr/share/fish/vendor_completions.d/copse.fish",
	}
	for _, page := range pages {
		if name := filepath.Base(page); strings.HasPrefix(name, "copse") || strings.HasPrefix(name, "twig-mcp") {
			want = append(want, "usr/share/man/man1/"+name)
		}
	}
	var got []string
	for _, top := range []string{"usr", "etc", "opt"} {
		err := filepath.WalkDir(filepath.Join(root, top), func(path string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return nil //nolint:nilerr // a package need not have all of them
			}
			rel, err := filepath.Rel(root, path)
			if !strings.HasPrefix(rel, "usr/lib/sysimage/") { // the database of rpm
				got = append(got, filepath.ToSlash(rel))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("installed are %q\nwant %q", got, want)
	}
	if err := put(filepath.Join(root, "work", "README.md"), []byte("A clean root.\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := output(t, root, "", "chroot", root, "/usr/bin/copse", "version"); !strings.Contains(got, "built by goreleaser") {
		t.Errorf("got %s", got)
	}
	answers := output(t, root, greeting+call(1, "read_file", `{"path": "README.md"}`),
		"chroot", root, "/usr/bin/copse", "mcp", "serve", "--repo", "/work")
	if text := answerOf(t, answers, 1); text != "A clean root.\n" {
		t.Errorf("read_file answers %q in %s", text, answers)
	}
	answers = output(t, root, greeting+`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`+"\n", "chroot", root, "/usr/bin/twig-mcp")
	if n := strings.Count(answers, `"inputSchema"`); n != 12 {
		t.Errorf("twig-mcp lists %d tools in %.300s", n, answers)
	}
}

// greeting is how a client begins.
const greeting = `{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"0"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
`

// call is the request that calls a tool.
func call(id int, tool, arguments string) string {
	line, err := json.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": id, "method": "tools/call",
		"params": map[string]any{"name": tool, "arguments": json.RawMessage(arguments)},
	})
	if err != nil {
		panic(err) // the arguments are constants
	}
	return string(line) + "\n"
}

// answerOf returns the text of the result with an ID.
func answerOf(t *testing.T, answers string, id int) string {
	t.Helper()
	for line := range strings.Lines(answers) {
		var answer struct {
			ID     any
			Result struct {
				IsError bool
				Content []struct{ Text string }
			}
		}
		if err := json.Unmarshal([]byte(line), &answer); err != nil {
			t.Fatal(err)
		}
		if answer.ID == float64(id) && !answer.Result.IsError && len(answer.Result.Content) > 0 {
			return answer.Result.Content[0].Text
		}
	}
	t.Errorf("no result %d in %s", id, answers)
	return ""
}
