package search

import (
	"context"
	"strings"

	"github.com/copse-dev/copse/internal/item/corpus"
	"github.com/copse-dev/copse/internal/project"
	"github.com/copse-dev/copse/internal/spread"
)

// files searches the names of the files of a project.
type files struct{ names *project.Names[*directory] }

func newFiles(p *project.Project) files { return files{project.NewNames(p, newDirectory)} }

// directory is the files of a directory. Their names are in one text, which is searched at
// once: most directories have nothing that fits.
type directory struct {
	path   string // "" is the project
	folded string // the path
	names  string // divided by slashes, which no name has
	lower  string // the names, folded
}

func newDirectory(path string, names []string) *directory {
	if path == "." {
		path = ""
	}
	d := &directory{path: strings.Clone(path), names: strings.Join(names, "/")}
	d.folded, d.lower = corpus.Fold(d.path), corpus.Fold(d.names)
	return d
}

func (f files) search(ctx context.Context, q query) (found, error) {
	directories, warnings, err := f.names.Get(ctx)
	if err != nil {
		return found{}, err
	}
	const share = 1000 // directories, to make another goroutine worth it
	parts := spread.Collect(directories, share, func(part []*directory) []best {
		var b best
		for _, d := range part {
			d.search(q, &b)
		}
		return []best{b}
	})
	var all best
	for _, part := range parts {
		all.total += part.total
		all.hits = append(all.hits, part.hits...)
	}
	return found{best: all, notes: warnings}, nil
}

// match is how a word is found in a directory.
type match struct {
	points int    // of a file that does not have the word in its name
	begins string // with what the name of a file must begin for a word with a slash
}

// search adds the files that fit.
func (d *directory) search(q query, b *best) {
	var matches [maxWords]match
	for i, word := range q.words {
		matches[i] = d.match(word)
		if matches[i].points == 0 && matches[i].begins == "" && (strings.Contains(word, "/") || !strings.Contains(d.lower, word)) {
			return
		}
	}
	names, lower := d.names, d.lower
	for more := true; more; {
		var name, folded string
		name, names, _ = strings.Cut(names, "/")
		folded, lower, more = strings.Cut(lower, "/")
		score := q.file(folded, matches[:len(q.words)])
		if score == 0 || !b.wants(score) {
			continue
		}
		path := name
		if d.path != "" {
			path = d.path + "/" + name
		}
		b.add(Hit{Kind: File, ID: path, score: score})
	}
}

// match looks for a word in the path of the directory.
func (d *directory) match(word string) match {
	dir, rest, divided := cutLast(word)
	if !divided {
		return match{points: inOther(d.folded, word)}
	}
	if points := inOther(d.folded+"/", word); points > 0 {
		return match{points: points}
	}
	if strings.HasSuffix("/"+d.folded, dir) {
		return match{begins: rest}
	}
	return match{}
}

// cutLast divides a word at its last slash.
func cutLast(word string) (dir, rest string, divided bool) {
	at := strings.LastIndexByte(word, '/')
	if at < 0 {
		return "", word, false
	}
	return word[:at], word[at+1:], true
}

// file returns the score of a file by its folded name, 0 if it does not fit.
func (q query) file(name string, matches []match) int {
	sum := 0
	for i, word := range q.words {
		points := 0
		switch begins := matches[i].begins; {
		case begins == "":
			points = max(inName(name, word), matches[i].points)
		case name == begins:
			points = isName
		case strings.HasPrefix(name, begins):
			points = beginsName
		}
		if points == 0 {
			return 0
		}
		sum += points
	}
	return q.sum(sum, name)
}
