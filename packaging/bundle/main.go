// Command bundle creates what the release build does not: the npm packages, the MCPB bundles, and
// the server.json of the MCP registry, from the programs that it has built.
//
//	go run ./packaging/bundle -version v1.2.3 -artifacts dist/artifacts.json -out dist/bundle
//
// The same programs result in the same bytes.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// What the packages are called, and where they come from.
const (
	name        = "copse"
	scope       = "@copse-dev"
	registryID  = "io.github.copse-dev/copse"
	repository  = "https://github.com/copse-dev/copse"
	image       = "ghcr.io/copse-dev/copse"
	title       = "copse"
	licenseFile = "LICENSE" // npm packs it although no package lists it
	description = "Branch stacks, GitHub PRs, Jira issues, work items, prompts, files, and tasks of your worktree"
)

// artifact is an entry of the release build's list. Path is relative to the directory that the
// build ran in.
type artifact struct {
	Name   string `json:"name"`
	Path   string `json:"path"`
	GOOS   string `json:"goos"`
	GOARCH string `json:"goarch"`
	Type   string `json:"type"`
	Extra  struct {
		ID string `json:"ID"`
	} `json:"extra"`
}

// program is copse for one platform.
type program struct {
	goos, goarch string
	path         string
}

// file returns the program's name in a package.
func (p program) file() string {
	if p.goos == "windows" {
		return name + ".exe"
	}
	return name
}

func main() {
	version := flag.String("version", "", "the version, such as v1.2.3")
	artifacts := flag.String("artifacts", "dist/artifacts.json", "the release build's list of what it built")
	man := flag.String("man", "build/assets/man", "the `directory` of the manual pages, which packaging/assets writes")
	license := flag.String("license", "LICENSE", "the license, which every package contains")
	out := flag.String("out", "dist/bundle", "the directory to write to")
	flag.Parse()
	if err := run(*version, *artifacts, *man, *license, *out); err != nil {
		fmt.Fprintln(os.Stderr, "bundle:", err)
		os.Exit(1)
	}
}

var semantic = regexp.MustCompile(`^v[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$`)

func run(version, artifacts, man, license, out string) error {
	if !semantic.MatchString(version) {
		return fmt.Errorf("invalid value %q for -version: use one such as v1.2.3", version)
	}
	version = strings.TrimPrefix(version, "v")
	programs, err := read(artifacts)
	if err != nil {
		return err
	}
	terms, err := os.ReadFile(license)
	if err != nil {
		return err
	}
	bundles, err := writeMCPB(filepath.Join(out, "mcpb"), version, terms, programs)
	if err != nil {
		return err
	}
	return errors.Join(
		writeNPM(filepath.Join(out, "npm"), version, man, terms, programs),
		writeRegistry(filepath.Join(out, "server.json"), version, bundles),
	)
}

// read finds the programs in the release build's list.
func read(path string) ([]program, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var list []artifact
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	var programs []program
	for _, a := range list {
		if a.Type == "Binary" && a.Extra.ID == name {
			programs = append(programs, program{a.GOOS, a.GOARCH, filepath.FromSlash(a.Path)})
		}
	}
	if len(programs) == 0 {
		return nil, fmt.Errorf("%s names no program %s", path, name)
	}
	return programs, nil
}

// writeJSON writes a document as people read it.
func writeJSON(path string, v any) error {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return err
	}
	return put(path, []byte(b.String()), 0o644)
}

func put(path string, data []byte, mode os.FileMode) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, data, mode)
}
