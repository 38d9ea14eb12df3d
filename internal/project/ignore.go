package project

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/copse-dev/copse/internal/cachedfile"
	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/foreign"
	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/git/index"
	"github.com/copse-dev/copse/internal/gitignore"
	"github.com/copse-dev/copse/internal/rooted"
)

// ignoreFile is the name of a directory's own patterns.
const ignoreFile = ".gitignore"

// The limits on files of patterns. A hostile repository can have half a million patterns in a
// file, and such a file in every directory.
const (
	// maxFiles is the maximum number of files of patterns in memory.
	maxFiles = 10_000
	// maxPatterns is the maximum number of patterns in memory, and of those that one listing uses.
	maxPatterns = 200_000
	// maxComparisons is the maximum number of comparisons of a listing, which is half a second.
	maxComparisons = 64_000_000
)

// filter decides what a listing shows. It is for one call and one goroutine.
type filter struct {
	directory *directory
	root      gitignore.Rules
	effort    *gitignore.Effort
	tracked   func() index.Paths
	leftOut   index.Paths // by the sparse checkout, as far as git says
	without   problems
	// weakest and fold are the inputs of root.
	weakest []*gitignore.Patterns
	fold    bool
}

// problems are about files of patterns that are ignored, partly or completely.
type problems struct {
	first string
	n     int
}

func (p *problems) add(file, problem string) {
	if p.n++; p.n == 1 {
		p.first = foreign.Spell(file) + " " + problem
	}
}

// warnings returns what the listing may show by mistake, and why.
func (flt *filter) warnings() []string {
	var all []string
	switch without := flt.without; {
	case without.n == 1:
		all = append(all, without.first)
	case without.n > 1:
		all = append(all, fmt.Sprintf("%s; the same applies to %s of patterns", without.first, cleantext.Count(without.n-1, "more file")))
	}
	if flt.effort.Spent() {
		all = append(all, "the .gitignore files have too many patterns to compare with every name, so this list also has files that git ignores; list a subdirectory, or remove patterns")
	}
	return all
}

// rules are those of one directory. If the directory itself is ignored, they hide everything in it
// that is not tracked.
type rules struct {
	gitignore.Rules
	hidden bool
}

// newFilter reads the rules for all directories. An unreadable file hides nothing, and is a
// warning.
func (p *Project) newFilter(ctx context.Context, f *directory) (flt *filter, warnings []string) {
	flt = &filter{
		directory: f, effort: gitignore.NewEffort(maxComparisons, maxPatterns),
		tracked: func() index.Paths { return index.Paths{} },
	}
	repo, err := p.repository(ctx)
	if err != nil || repo == nil {
		flt.root = gitignore.New(false).Within(flt.effort)
		if err != nil && !errors.Is(err, git.ErrNotRepository) {
			warnings = append(warnings, "git cannot determine what is ignored, copse uses only .gitignore files: "+err.Error())
		}
		return flt, warnings
	}
	excludes, err := repo.Excludes(ctx)
	if err != nil {
		warnings = append(warnings, "copse does not use the user's own ignore patterns: "+err.Error())
	}
	if excludes.Sparse {
		if paths, err := repo.LeftOut(ctx); err == nil {
			flt.leftOut = paths
		}
	}
	var weakest []*gitignore.Patterns
	for _, file := range excludes.Files {
		patterns, err := p.outside(file).Get()
		if flt.count(filepath.Base(file), patterns, err) {
			weakest = append(weakest, patterns)
		}
	}
	flt.weakest, flt.fold = weakest, excludes.FoldCase
	flt.root = gitignore.New(excludes.FoldCase, weakest...).Within(flt.effort)
	var read bool
	var tracked index.Paths
	flt.tracked = func() index.Paths {
		if !read {
			read = true
			// Without it, ignored files remain hidden; a listing that fails because git is busy
			// would help nobody.
			tracked, _ = repo.Tracked(ctx)
		}
		return tracked
	}
	return flt, warnings
}

// outside returns a file of patterns that is not the workspace's.
func (p *Project) outside(file string) *cachedfile.File[*gitignore.Patterns] {
	p.mu.Lock()
	defer p.mu.Unlock()
	kept, ok := p.patterns[file]
	if !ok {
		kept = cachedfile.New(file, gitignore.MaxSize, parsePatterns)
		p.patterns[file] = kept
	}
	return kept
}

func parsePatterns(data []byte) (*gitignore.Patterns, error) { return gitignore.Parse(data), nil }

// noLinks is a directory whose files of patterns must not be links, because git follows none.
type noLinks struct{ *directory }

func (n noLinks) Stat(name string) (fs.FileInfo, error) { return n.Lstat(name) }

// count reports whether the patterns of a file apply, and records its problems.
func (flt *filter) count(file string, patterns *gitignore.Patterns, err error) bool {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false
	case err != nil:
		flt.without.add(file, "does not count: "+err.Error())
		return false
	case patterns.Cut():
		flt.without.add(file, fmt.Sprintf("has more than %d patterns; copse ignores the rest", gitignore.MaxPatterns))
	}
	return true
}

// own returns the patterns of a directory's .gitignore, nil if it has none that apply.
func (flt *filter) own(dir string) *gitignore.Patterns {
	if flt.effort.Spent() {
		return nil
	}
	name := join(dir, ignoreFile)
	patterns, err := flt.directory.own(name)
	if !flt.count(name, patterns, err) {
		return nil
	}
	return patterns
}

// own returns the patterns of a file. It caches them, unless all together are too many.
func (f *directory) own(name string) (*gitignore.Patterns, error) {
	f.mu.Lock()
	kept, ok := f.patterns[name]
	if !ok {
		if len(f.patterns) >= maxFiles || f.parsed.Load() >= maxPatterns {
			clear(f.patterns)
			f.parsed.Store(0)
		}
		kept = cachedfile.NewIn(noLinks{f}, name, gitignore.MaxSize, f.parse)
		f.patterns[name] = kept
	}
	f.mu.Unlock()
	return kept.Get()
}

// parse counts what it parses.
func (f *directory) parse(data []byte) (*gitignore.Patterns, error) {
	patterns := gitignore.Parse(data)
	f.parsed.Add(int64(patterns.Len()))
	return patterns, nil
}

// at returns the rules for the entries of a directory, by its real name.
func (flt *filter) at(dir string, entries []fs.DirEntry) rules {
	r := rules{Rules: flt.root}
	at := "."
	if dir != "." {
		for part := range strings.SplitSeq(dir, "/") {
			r.Rules = r.With(flt.own(at))
			r = r.below(part)
			at = join(at, part)
		}
	}
	return flt.with(r, dir, entries)
}

// with returns r with the patterns of the directory itself, or for the tracked files of a git directory. Most directories have none, which their
// entries show without another access to the disk.
func (flt *filter) with(r rules, dir string, entries []fs.DirEntry) rules {
	if hasPatterns(entries) {
		r.Rules = r.With(flt.own(dir))
	}
	r.hidden = r.hidden || areGits(entries)
	return r
}

// below returns the rules for the directory name, without its own patterns.
func (r rules) below(name string) rules {
	r.hidden = r.hidden || r.Ignored(name, true)
	r.Rules = r.Below(name)
	return r
}

// shows reports whether the entry of dir is listed. It returns false for git's own directory.
func (flt *filter) shows(r rules, dir string, entry fs.DirEntry) bool {
	shown, _ := flt.judge(r, dir, entry)
	return shown
}

// judge reports whether the entry of dir is listed, and whether that depends on what git tracks,
// because its name is ignored.
func (flt *filter) judge(r rules, dir string, entry fs.DirEntry) (shown, ignored bool) {
	name := entry.Name()
	if rooted.NamesGit(name) {
		return false, false
	}
	if !r.hidden && !r.Ignored(name, entry.IsDir()) {
		return true, false
	}
	full := join(dir, name)
	if entry.IsDir() {
		return flt.tracked().HasBelow(full), true
	}
	return flt.tracked().Has(full), true
}
