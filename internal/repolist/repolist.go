// Package repolist reads the list of repositories that the program twig keeps for a user,
// registry.json. It never writes it.
//
// [Path] returns the path of the file, and [List] reads it again when it changes. The format is
// twig's (github.com/eddieland/twig, 2025 to 2026): an array of objects with the members path,
// name, and last_fetch; the last may be absent or null. Unknown members are ignored. The package
// does not check whether a repository still exists.
package repolist

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/copse-dev/copse/internal/cachedfile"
	"github.com/copse-dev/copse/internal/jsonfile"
)

// MaxSize is the maximum size of the list.
const MaxSize = 16 << 20

// Repository is an entry of the list.
type Repository struct {
	Name string
	Path string // absolute, with symbolic links resolved
	// LastFetch is when twig last fetched it, unparsed, in RFC 3339; empty if it never did.
	LastFetch string
}

// List is the list of repositories. It is safe for concurrent use.
type List struct {
	file      *cachedfile.File[[]Repository]
	unlocated error // the reason why there is no file
}

// New returns twig's list at [Path]. It reads nothing yet. Without a path, every Load fails.
func New(goos string, getenv func(string) string, home string) *List {
	path, err := Path(goos, getenv, home)
	if err != nil {
		return &List{unlocated: err}
	}
	return &List{file: cachedfile.New(path, MaxSize, parse)}
}

// Load returns the current repositories in the order in which they were added; none if there is no
// file. The caller must not change them. An error about the file begins with "registry.json: ",
// describes the problem, and does not name the directory.
func (l *List) Load() ([]Repository, error) {
	if l.unlocated != nil {
		return nil, l.unlocated
	}
	repositories, err := l.file.Get()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("registry.json: %w", err)
	}
	return repositories, nil
}

// record is an element of the file's array; a nil pointer is a member that is
// absent or null.
type record struct {
	Path      *string `json:"path"`
	Name      *string `json:"name"`
	LastFetch string  `json:"last_fetch"`
}

func parse(data []byte) ([]Repository, error) {
	records, err := jsonfile.Decode[[]record](data)
	if err != nil {
		return nil, err
	}
	if records == nil {
		return nil, errors.New("the file: expected an array, got null")
	}
	repositories := make([]Repository, len(records))
	for i, r := range records {
		switch {
		case r.Path == nil:
			return nil, missing(i, "path")
		case r.Name == nil:
			return nil, missing(i, "name")
		}
		repositories[i] = Repository{Name: *r.Name, Path: *r.Path, LastFetch: r.LastFetch}
	}
	return repositories, nil
}

func missing(i int, key string) error {
	return fmt.Errorf("%s: missing or null", jsonfile.Key(jsonfile.Index("", i), key))
}
