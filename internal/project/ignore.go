package project

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"github.com/copse-dev/copse/internal/cachedfile"
	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/git/index"
	"github.com/copse-dev/copse/internal/gitignore"
)

// ignoreFile is the name of a folder's own patterns.
const ignoreFile = ".gitignore"

// maxPatterns is how many files of patterns are kept.
const maxPatterns = 10_000

// filter decides what is listed. It is for one call, and not for several goroutines
// at once before it has been prepared.
type filter struct {
	folder  *folder
	root    gitignore.Rules
	tracked func() index.Paths
}

// rules are those of one folder: with everything in it that is not tracked hidden,
// if the folder itself is ignored.
type rules struct {
	gitignore.Rules
	hidden bool
}

// newFilter reads what holds for all folders. What cannot be read hides nothing, and
// is a warning.
func (p *Project) newFilter(ctx context.Context, f *folder) (flt *filter, warnings []string) {
	flt = &filter{folder: f, tracked: func() index.Paths { return index.Paths{} }}
	repo, err := p.repository(ctx)
	if err != nil || repo == nil {
		flt.root = gitignore.New(false)
		if err != nil && !errors.Is(err, git.ErrNotRepository) {
			warnings = append(warnings, "git cannot tell what is ignored, only .gitignore files count: "+err.Error())
		}
		return flt, warnings
	}
	excludes, err := repo.Excludes(ctx)
	if err != nil {
		warnings = append(warnings, "the user's own patterns of what is ignored do not count: "+err.Error())
	}
	var weakest []*gitignore.Patterns
	for _, file := range excludes.Files {
		if patterns, err := p.outside(file).Get(); err == nil {
			weakest = append(weakest, patterns)
		}
	}
	flt.root = gitignore.New(excludes.FoldCase, weakest...)
	var read bool
	var tracked index.Paths
	flt.tracked = func() index.Paths {
		if !read {
			read = true
			// Without it, what is ignored stays hidden; a listing that fails
			// because git is busy would help nobody.
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

// noLinks is a folder whose files of patterns are no links, since git follows none.
type noLinks struct{ *folder }

func (n noLinks) Stat(name string) (fs.FileInfo, error) { return n.Lstat(name) }

// own returns the patterns of a folder's .gitignore, nil if it has none that count.
func (f *folder) own(dir string) *gitignore.Patterns {
	name := join(dir, ignoreFile)
	f.mu.Lock()
	kept, ok := f.patterns[name]
	if !ok {
		if len(f.patterns) >= maxPatterns {
			clear(f.patterns)
		}
		kept = cachedfile.NewIn(noLinks{f}, name, gitignore.MaxSize, parsePatterns)
		f.patterns[name] = kept
	}
	f.mu.Unlock()
	patterns, err := kept.Get()
	if err != nil {
		return nil
	}
	return patterns
}

// at returns the rules for the entries of a folder, by its real name.
func (flt *filter) at(dir string, entries []fs.DirEntry) rules {
	r := rules{Rules: flt.root}
	at := "."
	if dir != "." {
		for part := range strings.SplitSeq(dir, "/") {
			r.Rules = r.With(flt.folder.own(at))
			r = r.below(part)
			at = join(at, part)
		}
	}
	return flt.with(r, dir, entries)
}

// with returns r with the patterns of the folder itself. Most folders have none, which
// their entries show without another look at the disk.
func (flt *filter) with(r rules, dir string, entries []fs.DirEntry) rules {
	if slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return strings.EqualFold(e.Name(), ignoreFile) }) {
		r.Rules = r.With(flt.folder.own(dir))
	}
	return r
}

// below returns the rules for the folder name, without its own patterns.
func (r rules) below(name string) rules {
	r.hidden = r.hidden || r.Ignored(name, true)
	r.Rules = r.Below(name)
	return r
}

// shows reports whether the entry of dir is listed. It is false for git's own.
func (flt *filter) shows(r rules, dir string, entry fs.DirEntry) bool {
	name := entry.Name()
	if insideGit(name) {
		return false
	}
	if !r.hidden && !r.Ignored(name, entry.IsDir()) {
		return true
	}
	full := join(dir, name)
	if entry.IsDir() {
		return flt.tracked().HasBelow(full)
	}
	return flt.tracked().Has(full)
}
