// Package settings reads .copse.yml, the file in which a workspace says how copse
// is to behave in it. A workspace without one has the defaults.
//
//	commands:
//	  runner: deno   # render commands with the original program; default: native
package settings

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/copse-dev/copse/internal/cachedfile"
)

// Name is the name of the file.
const Name = ".copse.yml"

// maxSize is the size of the largest file that is read: the YAML library takes
// time with the square of some texts.
const maxSize = 16 << 10

// Settings are what a file says.
type Settings struct {
	Commands Commands `yaml:"commands"`
}

// Commands are the settings of prompt commands.
type Commands struct {
	Runner Runner `yaml:"runner"`
}

// Runner is what renders prompt commands.
type Runner string

// The runners. Native is the default.
const (
	Native Runner = "native"
	Deno   Runner = "deno"
)

// File is the file of a workspace. It is safe for concurrent use.
type File struct {
	file *cachedfile.File[Settings]
}

// Open returns the file of the workspace at dir. Nothing is read yet.
func Open(dir string) *File {
	return &File{file: cachedfile.New(filepath.Join(dir, Name), maxSize, parse)}
}

// Get returns the present settings.
func (f *File) Get() (Settings, error) {
	s, err := f.file.Get()
	if errors.Is(err, fs.ErrNotExist) {
		return parse(nil)
	}
	if err != nil {
		return Settings{}, fmt.Errorf("%s cannot be used: %w", Name, err)
	}
	return s, nil
}

func parse(data []byte) (Settings, error) {
	var s Settings
	if err := yaml.Unmarshal(data, &s); err != nil {
		line, _, _ := strings.Cut(yaml.FormatError(err, false, false), "\n")
		return Settings{}, errors.New(line)
	}
	switch r := s.Commands.Runner; r {
	case Native, Deno:
	case "":
		s.Commands.Runner = Native
	default:
		return Settings{}, fmt.Errorf("commands.runner is %q; use %s or %s", string(r), Native, Deno)
	}
	return s, nil
}
