package main

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/wiring"
	"github.com/copse-dev/copse/internal/wiring/full"
)

// bundle is an MCPB file that was written.
type bundle struct{ file, sum string }

// manifest is the manifest.json of an MCPB file, version 0.3.
type manifest struct {
	ManifestVersion string            `json:"manifest_version"`
	Name            string            `json:"name"`
	DisplayName     string            `json:"display_name"`
	Version         string            `json:"version"`
	Description     string            `json:"description"`
	Author          map[string]string `json:"author"`
	Repository      map[string]string `json:"repository"`
	License         string            `json:"license"`
	Server          server            `json:"server"`
	Tools           []told            `json:"tools"`
	Prompts         []prompt          `json:"prompts,omitempty"`
	Compatibility   compatibility     `json:"compatibility"`
	UserConfig      map[string]option `json:"user_config"`
}

type server struct {
	Type       string `json:"type"`
	EntryPoint string `json:"entry_point"`
	MCPConfig  struct {
		Command string            `json:"command"`
		Args    []string          `json:"args"`
		Env     map[string]string `json:"env"`
	} `json:"mcp_config"`
}

type told struct {
	Name        string `json:"name"`
	Description string `json:"description"`
}

type prompt struct {
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Arguments   []string `json:"arguments,omitempty"`
	Text        string   `json:"text"`
}

type compatibility struct {
	Platforms []string `json:"platforms"`
}

type option struct {
	Type        string `json:"type"`
	Title       string `json:"title"`
	Description string `json:"description"`
	Required    bool   `json:"required"`
	Default     any    `json:"default,omitempty"`
	Sensitive   bool   `json:"sensitive,omitempty"`
}

// options returns the settings of a bundle. A client asks for them when a person installs it. The
// server needs only the repository; an empty login counts as none.
func options() map[string]option {
	all := map[string]option{
		"repository": {Type: "directory", Title: "Repository", Description: "The git repository or worktree that the server serves", Required: true},
		"read_only":  {Type: "boolean", Title: "Read-only", Description: "Serve only read-only tools", Default: false},
		"toolsets": {
			Type: "string", Title: "Toolsets", Default: strings.Join(full.ToolsetNames(), ","),
			Description: "The toolsets to serve, separated by commas",
		},
	}
	for key, v := range logins() {
		all[key] = option{Type: "string", Title: v.title, Description: v.Description, Default: "", Sensitive: v.IsSecret}
	}
	return all
}

// login is an environment variable with the title of its setting.
type login struct {
	variable
	title string
}

// logins returns the settings that become environment variables, by their keys.
func logins() map[string]login {
	titles := map[string]string{
		"GITHUB_TOKEN": "GitHub token", "JIRA_HOST": "Jira host", "JIRA_EMAIL": "Jira email address", "JIRA_TOKEN": "Jira API token", "JIRA_PAT": "Jira personal access token",
	}
	all := map[string]login{}
	for _, v := range variables() {
		all[strings.ToLower(v.Name)] = login{v, titles[v.Name]}
	}
	return all
}

// writeMCPB writes a bundle for each platform.
func writeMCPB(directory, version string, license []byte, programs []program) ([]bundle, error) {
	tools, prompts := offered()
	var written []bundle
	for _, p := range programs {
		m := manifest{
			ManifestVersion: "0.3", Name: name, DisplayName: title, Version: version, Description: description,
			Author: map[string]string{"name": "The copse authors"}, License: "MIT",
			Repository: map[string]string{"type": "git", "url": repository},
			Tools:      tools, Prompts: prompts, Compatibility: compatibility{[]string{nodeOS[p.goos]}},
			UserConfig: options(),
		}
		m.Server.Type, m.Server.EntryPoint = "binary", "bin/"+p.file()
		m.Server.MCPConfig.Command = "${__dirname}/bin/" + p.file()
		m.Server.MCPConfig.Args = []string{
			"mcp", "serve", "--repo", "${user_config.repository}", "--read-only=${user_config.read_only}", "--toolsets=${user_config.toolsets}",
		}
		m.Server.MCPConfig.Env = map[string]string{}
		for key, v := range logins() {
			m.Server.MCPConfig.Env[v.Name] = "${user_config." + key + "}"
		}
		text, err := json.MarshalIndent(m, "", "  ")
		if err != nil {
			return nil, err
		}
		data, err := os.ReadFile(p.path)
		if err != nil {
			return nil, err
		}
		packed, err := pack(text, license, "bin/"+p.file(), data)
		if err != nil {
			return nil, err
		}
		file := fmt.Sprintf("%s-mcp-%s-%s-%s.mcpb", name, version, p.goos, p.goarch)
		if err := put(filepath.Join(directory, file), packed, 0o644); err != nil {
			return nil, err
		}
		sum := sha256.Sum256(packed)
		written = append(written, bundle{file, hex.EncodeToString(sum[:])})
	}
	return written, nil
}

// pack makes the archive: the manifest, the license, and the program, which can be run.
func pack(manifest, license []byte, name string, program []byte) ([]byte, error) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	w.RegisterCompressor(zip.Deflate, func(out io.Writer) (io.WriteCloser, error) {
		return flate.NewWriter(out, flate.BestCompression)
	})
	for _, f := range []struct {
		name string
		data []byte
		mode os.FileMode
	}{{"manifest.json", manifest, 0o644}, {licenseFile, license, 0o644}, {name, program, 0o755}} {
		header := &zip.FileHeader{Name: f.name, Method: zip.Deflate}
		header.SetMode(f.mode)
		entry, err := w.CreateHeader(header)
		if err != nil {
			return nil, err
		}
		if _, err := entry.Write(f.data); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// offered returns the tools and prompts of the server. The bundle lists them before the server
// starts.
func offered() ([]told, []prompt) {
	env := app.EmptyEnv()
	all := full.Open(context.Background(), wiring.Options{Program: name, Env: env}).Serve(slog.New(slog.DiscardHandler))
	defer all.Close()
	var tools []told
	var prompts []prompt
	for _, set := range all.Toolsets {
		for _, t := range set.Tools {
			tools = append(tools, told{t.Name, t.Description})
		}
		for _, p := range set.Prompts {
			one := prompt{Name: p.Name, Description: p.Description, Text: p.Description}
			for _, a := range p.Arguments {
				one.Arguments = append(one.Arguments, a.Name)
			}
			prompts = append(prompts, one)
		}
	}
	return tools, prompts
}
