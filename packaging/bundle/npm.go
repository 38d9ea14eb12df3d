package main

import (
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// launcher is the program of the npm package, which starts that of the platform.
//
//go:embed launcher.js
var launcher []byte

// npmPackage is a package.json.
type npmPackage struct {
	Name                 string            `json:"name"`
	Version              string            `json:"version"`
	Description          string            `json:"description"`
	License              string            `json:"license"`
	Repository           map[string]string `json:"repository"`
	MCPName              string            `json:"mcpName,omitempty"`
	Bin                  map[string]string `json:"bin,omitempty"`
	Man                  []string          `json:"man,omitempty"`
	Files                []string          `json:"files"`
	OS                   []string          `json:"os,omitempty"`
	CPU                  []string          `json:"cpu,omitempty"`
	Engines              map[string]string `json:"engines,omitempty"`
	OptionalDependencies map[string]string `json:"optionalDependencies,omitempty"`
}

// The names that Node has for systems and processors.
var (
	nodeOS  = map[string]string{"linux": "linux", "darwin": "darwin", "windows": "win32"}
	nodeCPU = map[string]string{"amd64": "x64", "arm64": "arm64"}
)

// writeNPM writes the directories of the npm packages: one for each platform, with its program, and
// the one that people install, which depends on those, starts the right one, and has the manual
// pages of copse from the directory man. Each of them contains the license.
func writeNPM(directory, version, man string, license []byte, programs []program) error {
	base := npmPackage{
		Version: version, Description: description, License: "MIT",
		Repository: map[string]string{"type": "git", "url": "git+" + repository + ".git"},
	}
	root := base
	root.Name, root.MCPName = scope+"/"+name, registryID
	root.Bin = map[string]string{name: "bin/" + name + ".js"}
	root.Files = []string{"bin", "man"}
	root.Engines = map[string]string{"node": ">=18"}
	root.OptionalDependencies = make(map[string]string)
	var errs []error
	for _, p := range programs {
		platform := nodeOS[p.goos] + "-" + nodeCPU[p.goarch]
		one := base
		one.Name = scope + "/" + name + "-" + platform
		one.Files, one.OS, one.CPU = []string{"bin"}, []string{nodeOS[p.goos]}, []string{nodeCPU[p.goarch]}
		root.OptionalDependencies[one.Name] = version
		data, err := os.ReadFile(p.path)
		errs = append(errs, err,
			put(filepath.Join(directory, platform, "bin", p.file()), data, 0o755),
			put(filepath.Join(directory, platform, licenseFile), license, 0o644),
			writeJSON(filepath.Join(directory, platform, "package.json"), one),
		)
	}
	pages, err := filepath.Glob(filepath.Join(man, name+"*.1.gz"))
	if err == nil && len(pages) == 0 {
		err = fmt.Errorf("%s has no manual page of %s; run `go run ./packaging/assets` first", man, name)
	}
	errs = append(errs, err)
	for _, page := range pages {
		file := "man/" + filepath.Base(page)
		root.Man = append(root.Man, file)
		data, err := os.ReadFile(page)
		errs = append(errs, err, put(filepath.Join(directory, name, filepath.FromSlash(file)), data, 0o644))
	}
	readme := "# copse\n\n" + description + ". See " + repository + ".\n\n```sh\nnpm install -g " + root.Name + "\ncopse init\n```\n"
	return errors.Join(append(errs,
		put(filepath.Join(directory, name, "bin", name+".js"), launcher, 0o755),
		put(filepath.Join(directory, name, "README.md"), []byte(readme), 0o644),
		put(filepath.Join(directory, name, licenseFile), license, 0o644),
		writeJSON(filepath.Join(directory, name, "package.json"), root),
	)...)
}
