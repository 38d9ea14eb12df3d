// Package dotenv refuses the files with variables that just would read outside a project.
//
// A justfile with the setting dotenv-load makes just read such a file before each recipe. just follows links, searches
// the directories above, and quotes a line that it cannot read. Use [Check] before just runs.
package dotenv

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/copse-dev/copse/internal/foreign"
	"github.com/copse-dev/copse/internal/regular"
	"github.com/copse-dev/copse/internal/rooted"
)

// maxSize is the maximum size of a file with variables.
const maxSize = 1 << 20

// Settings are those of a module in just's output. Filename, Path, and Directory, in which recipes run, are strings, or
// expressions, which are not found.
type Settings struct {
	Filename  json.RawMessage `json:"dotenv_filename"`
	Path      json.RawMessage `json:"dotenv_path"`
	Load      bool            `json:"dotenv_load"`
	Override  bool            `json:"dotenv_override"`
	Required  bool            `json:"dotenv_required"`
	Directory json.RawMessage `json:"working_directory"`
}

// Searches returns the searches of a module in a directory, if it has any. Some versions of just begin in the
// directory in which recipes run.
func (s Settings) Searches(dir string) []Search {
	one := Search{Dir: dir, Paths: literal(s.Path), Names: literal(s.Filename)}
	if len(one.Names) == 0 {
		if !s.Load && !s.Override && !s.Required && len(one.Paths) == 0 {
			return nil
		}
		one.Names = []string{".env"}
	}
	all := []Search{one}
	for _, in := range literal(s.Directory) {
		if in == "" {
			continue
		}
		one.Dir = path.Join(dir, filepath.ToSlash(in))
		all = append(all, one)
	}
	return all
}

// literal returns a setting that is a string, and nothing for one that is not set.
func literal(raw json.RawMessage) []string {
	var text *string
	if json.Unmarshal(raw, &text) != nil || text == nil {
		return nil
	}
	return []string{*text}
}

// Search is where just searches for the variables of a module.
type Search struct {
	// Dir is the name of the module's directory in the root.
	Dir string
	// Paths come first, as seen from Dir. just searches for Names only if none of them exists.
	Paths []string
	// Names are those of files in Dir, and in each directory above it.
	Names []string
}

// Error reports a file that just must not read.
type Error struct {
	file, problem string
	link          bool // the file is a link that points outside
}

func (e *Error) Error() string {
	return "just would read variables from " + foreign.Mention(e.file) + ", which " + e.problem
}

// Check refuses what just would find outside the root, and what is not a file of at most 1 MiB. A root inside the main
// worktree may use the file of that; "" is none. The error is an [*Error], unless a directory cannot be read.
func Check(all []Search, root, main string) error {
	for _, s := range all {
		if err := s.check(root, main); err != nil {
			return err
		}
	}
	return nil
}

func (s Search) check(root, main string) error {
	for _, file := range slices.Concat(s.Paths, s.Names, []string{s.Dir}) {
		if strings.ContainsFunc(file, func(r rune) bool { return r < ' ' || r == '\'' || r == '`' }) {
			return &Error{file: file, problem: "has a control character or a quotation mark in its name, which hides where an error of just ends; rename it"}
		}
	}
	for _, file := range slices.Concat(s.Paths, s.Names) {
		if slices.Contains(strings.Split(filepath.ToSlash(file), "/"), "..") {
			return &Error{file: file, problem: "has \"..\" in its path, where a link can lead elsewhere; write a path without it"}
		}
	}
	walls := []string{root}
	if main != "" && below(root, main) {
		walls = append(walls, main)
	}
	dir := filepath.Join(root, filepath.FromSlash(s.Dir))
	for i, wall := range walls {
		found, err := s.in(wall, dir, i == 0)
		if found || err != nil {
			if outside, ok := errors.AsType[*Error](err); ok && outside.link && i+1 < len(walls) {
				_, err = s.in(main, dir, true) // the link can lead into the main worktree
			}
			return err
		}
		dir = filepath.Dir(wall)
	}
	return s.outside(dir)
}

// below reports whether a directory is below another one.
func below(dir, other string) bool {
	rel, err := filepath.Rel(other, dir)
	return err == nil && rel != "." && filepath.IsLocal(rel)
}

// in reports whether just finds a file between a directory and one that contains it, which is a wall.
func (s Search) in(wall, dir string, paths bool) (bool, error) {
	root, err := rooted.Open(wall)
	if err != nil {
		return false, fmt.Errorf("search for variables: %w", err)
	}
	defer root.Close()
	at, err := root.Name(dir)
	if err != nil {
		return false, fmt.Errorf("search for variables: %w", err)
	}
	if paths {
		for _, file := range s.Paths {
			if found, err := usable(root, at, file); found || err != nil {
				return found, err
			}
		}
	}
	for ; ; at = path.Dir(at) {
		for _, file := range s.Names {
			if found, err := usable(root, at, file); found || err != nil {
				return found, err
			}
		}
		if at == "." {
			return false, nil
		}
	}
}

// outside refuses a file that just finds in a directory or above it.
func (s Search) outside(dir string) error {
	for at := dir; ; at = filepath.Dir(at) {
		for _, name := range s.Names {
			info, err := os.Lstat(filepath.Join(at, name))
			if regular.Absent(err) || err == nil && info.IsDir() {
				continue
			}
			return &Error{file: filepath.Join(at, name), problem: "is outside the project: create the file in the project, or remove the setting `dotenv-load`"}
		}
		if filepath.Dir(at) == at {
			return nil
		}
	}
}

// usable reports whether just finds a file, as seen from a directory in the root, and refuses one that it must not
// read.
func usable(root *rooted.Root, dir, file string) (bool, error) {
	name, err := path.Join(dir, filepath.ToSlash(file)), error(nil)
	if filepath.IsAbs(file) {
		name, err = root.Name(file)
	}
	var info fs.FileInfo
	if err == nil {
		info, err = root.Stat(name)
	}
	switch {
	case regular.Absent(err), err == nil && info.IsDir():
		return false, nil
	case errors.Is(err, rooted.ErrOutside):
		return true, &Error{file: file, problem: "points outside the project; replace it with a file", link: true}
	case err != nil:
		return true, &Error{file: file, problem: "cannot be read: " + err.Error()}
	case !info.Mode().IsRegular():
		return true, &Error{file: file, problem: "is not a file"}
	case info.Size() > maxSize:
		return true, &Error{file: file, problem: fmt.Sprintf("has more than %d bytes", maxSize)}
	}
	return true, nil
}
