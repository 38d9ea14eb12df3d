// Package scratch creates git directories outside any repository, for git to work in.
//
// A directory from [New] is an empty bare repository in the directory for temporary files. Only the
// user can enter it, and it contains no repository's configuration, hooks, or refs. Its user adds
// what it needs of a repository, such as objects. [Dir.Close] removes it, and so does a later New if
// the process was killed.
package scratch

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/copse-dev/copse/internal/tempdir"
)

// prefix starts the names of the directories.
const prefix = "copse-git-"

// Dir is a git directory.
type Dir struct{ *tempdir.Dir }

// New creates a git directory whose objects have names of the format "sha256", or of SHA-1 if the
// format is empty.
func New(objectFormat string) (*Dir, error) {
	made, err := tempdir.New(prefix)
	if err != nil {
		return nil, err
	}
	d := &Dir{made}
	if err := d.fill(objectFormat); err != nil {
		_ = d.Close()
		return nil, fmt.Errorf("create a directory for git: %w", err)
	}
	return d, nil
}

// fill writes the files that make the directory a repository for git.
func (d *Dir) fill(objectFormat string) error {
	config := "[core]\n\trepositoryformatversion = 0\n\tbare = true\n"
	if objectFormat != "" {
		config = fmt.Sprintf("[core]\n\trepositoryformatversion = 1\n\tbare = true\n[extensions]\n\tobjectformat = %q\n", objectFormat)
	}
	for _, dir := range []string{"refs/heads", "objects/info", "info"} {
		if err := os.MkdirAll(filepath.Join(d.Path, filepath.FromSlash(dir)), 0o700); err != nil {
			return err
		}
	}
	for name, text := range map[string]string{"HEAD": "ref: refs/heads/none\n", "config": config} {
		if err := d.Write(name, []byte(text)); err != nil {
			return err
		}
	}
	return nil
}

// Write writes a file in the directory. The name has slashes.
func (d *Dir) Write(name string, data []byte) error {
	return os.WriteFile(filepath.Join(d.Path, filepath.FromSlash(name)), data, 0o600)
}
