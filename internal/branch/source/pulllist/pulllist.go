// Package pulllist caches a repository's open pull requests for the user, so GitHub's data about a
// stack is a record like any other: a small file, read without network and without a login.
//
// The file has names of branches and numbers, and no text that people wrote. [Dir.Write] replaces
// it as a whole; the readers in packages pullbase and githubstack read it.
package pulllist

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/copse-dev/copse/internal/branch/source"
	"github.com/copse-dev/copse/internal/userdir"
)

// version changes when the meaning of the content changes.
const version = 1

const (
	// MaxPulls is the maximum number of pull requests in the file.
	MaxPulls = 1000
	// maxFile is the maximum size of the file.
	maxFile = 4 << 20
)

// List is the open pull requests of a repository, newest first.
type List struct {
	Version int `json:"version"`
	// Repository is the host, owner and name at GitHub.
	Repository string `json:"repository"`
	// Origin is a digest of the URL of origin when GitHub gave the list. A repository with another
	// origin does not have these pull requests.
	Origin string `json:"origin"`
	// AsOf is when GitHub gave the list.
	AsOf  time.Time `json:"as_of"`
	Pulls []Pull    `json:"pulls"`
}

// Pull is a pull request from a branch of the repository itself.
type Pull struct {
	Number uint32 `json:"number"`
	Head   string `json:"head"`
	Base   string `json:"base"`
	// Stack is GitHub's own stack of the pull request, nil for none.
	Stack *Stack `json:"stack,omitempty"`
}

// Stack is a place in one of GitHub's stacks.
type Stack struct {
	ID int64 `json:"id"`
	// Position is 1 at the bottom. Merged members keep their position.
	Position int `json:"position"`
	// Base is the branch that the stack merges into.
	Base string `json:"base"`
}

// Dir is the directory of the files, one for each repository; "" for none.
type Dir string

// Repo is the repository whose pull requests they are.
type Repo interface {
	CommonDir() string
	RemoteURL(ctx context.Context, name string) (string, error)
}

// Path returns the file of the repository with a git directory.
func (d Dir) Path(commonDir string) string {
	return userdir.Dir(d).Path(name(commonDir))
}

func name(commonDir string) string { return digest(commonDir) + ".json" }

func digest(text string) string {
	const digits = 32
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])[:digits]
}

// origin returns the digest of the URL of origin, "" without one.
func origin(ctx context.Context, r Repo) string {
	url, err := r.RemoteURL(ctx, "origin")
	if err != nil {
		return ""
	}
	return digest(url)
}

// Files returns the files that a record depends on: the list, and the configuration with the URL of
// origin.
func (d Dir) Files(r source.Repo) []string {
	if d == "" {
		return nil
	}
	return []string{d.Path(r.CommonDir()), filepath.Join(r.CommonDir(), "config")}
}

// Read returns the stored list, an empty list without one of the repository's origin.
func (d Dir) Read(ctx context.Context, r Repo) (List, error) {
	data, err := userdir.Dir(d).Read(name(r.CommonDir()), maxFile)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, userdir.ErrUnusable) {
		return List{}, nil
	}
	if err != nil {
		return List{}, err
	}
	var l List
	if err := source.JSON(data, &l); err != nil {
		return List{}, errors.New("the list of open pull requests is damaged; `copse stack --fresh` replaces it")
	}
	if l.Version != version || l.Origin != origin(ctx, r) {
		return List{}, nil
	}
	l.Pulls = l.Pulls[:min(len(l.Pulls), MaxPulls)]
	return l, nil
}

// Write stores a list.
func (d Dir) Write(ctx context.Context, r Repo, l List) error {
	if d == "" {
		return nil
	}
	l.Origin = origin(ctx, r)
	l.Version, l.Pulls = version, l.Pulls[:min(len(l.Pulls), MaxPulls)]
	data, err := json.Marshal(l)
	for err == nil && len(data) > maxFile { // nobody would read it
		l.Pulls = l.Pulls[:len(l.Pulls)/2]
		data, err = json.Marshal(l)
	}
	if err != nil {
		return err
	}
	return userdir.Dir(d).Replace(name(r.CommonDir()), data)
}
