package remerge

import (
	"maps"
	"slices"
	"strings"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/gitmerge"
	"github.com/copse-dev/copse/internal/item/itemdir"
	"github.com/copse-dev/copse/internal/item/merge"
	"github.com/copse-dev/copse/internal/item/ticfile"
)

// ownChanges is what somebody changed in the files since git stopped in a merge: the
// store as git left it, and as it is.
type ownChanges struct {
	left, mine merge.Tree
	reports    []merge.Report
}

// ownChanges finds what was changed since git stopped. merged is the result of the merge
// without it.
func (m *merging) ownChanges(open *gitmerge.Merge, merged merge.Tree) ownChanges {
	own := ownChanges{left: maps.Clone(open.Left), mine: maps.Clone(m.tree)}
	var edited []string
	for _, name := range open.Unmerged {
		text, here := m.tree[name]
		_, inOurs := open.Ours[name]
		_, inTheirs := open.Theirs[name]
		marked := m.isUnmerged(name)
		switch {
		case here && isVersion(open, text): // git can put its marks into a version
		case here && marked:
			edited = append(edited, name) // perhaps
		case here && inOurs && inTheirs:
			continue // a person merged it
		case here:
			edited = append(edited, name)
			continue
		case m.isMoved(open, name):
			continue
		}
		delete(own.mine, name)
		if left, ok := open.Left[name]; ok {
			own.mine[name] = left
		}
	}
	for _, name := range edited {
		if text := m.tree[name]; m.isUnmerged(name) {
			own.keepLines(open, merged, name, text)
		} else {
			own.edit(merged, name, text)
		}
	}
	return own
}

// isVersion reports whether a text is what git left of a version: where one side renamed
// the file, that is a merged text, under another name.
func isVersion(open *gitmerge.Merge, text string) bool {
	for _, stage := range open.Stages {
		for _, version := range stage {
			if version == text {
				return true
			}
		}
	}
	return false
}

// edit makes an edited file, which only one side has, a change of the item in the
// result. If the result does not have the item, the file stays a new one.
func (own *ownChanges) edit(merged merge.Tree, name, text string) {
	result := nameOf(merged, text)
	if result == "" {
		return
	}
	own.settle(merged, result)
	own.mine[needed(result, name)] = text
}

// needed returns the file for an item that somebody edited under a name: who edits an
// item needs it, also if the merge deleted it.
func needed(result, name string) string {
	if file, deleted := strings.CutPrefix(result, merge.TrashDir+"/"); deleted && strings.HasPrefix(name, merge.ItemsDir+"/") {
		return merge.ItemsDir + "/" + file
	}
	return result
}

// settle makes the file of the result the only one that git left of an item.
func (own *ownChanges) settle(merged merge.Tree, result string) {
	created := createdIn(merged[result])
	for _, tree := range []merge.Tree{own.left, own.mine} {
		maps.DeleteFunc(tree, func(_, text string) bool {
			return createdIn(text) == created && nameOf(merged, text) == result
		})
	}
	own.left[result] = merged[result]
}

// keepLines keeps what somebody wrote into a file that still has marks of git: the lines
// that no version of it has, in a comment. Which version they are meant for is unknown.
func (own *ownChanges) keepLines(open *gitmerge.Merge, merged merge.Tree, name, text string) {
	a, b, _ := ticfile.Versions(text)
	added := linesBut(a+"\n"+b, open.Base[name], open.Ours[name], open.Theirs[name], merged[name])
	// Git merges a file that both sides renamed before it compares it with the file that
	// already has the new name: the stages then have marks of their own.
	for _, stage := range open.Stages {
		added = linesBut(strings.Join(added, "\n"), slices.Collect(maps.Values(stage))...)
	}
	if len(added) > 0 { // git can have the lines from where the file has another name
		for _, tree := range []merge.Tree{open.Base, open.Ours, open.Theirs, merged} {
			added = linesBut(strings.Join(added, "\n"), slices.Collect(maps.Values(tree))...)
		}
	}
	result := nameOf(merged, a, b)
	file, err := ticfile.Parse(merged[result])
	if err != nil || len(added) == 0 {
		return
	}
	it, _, err := file.Item()
	if err != nil {
		return
	}
	comment := item.Comment{Author: merge.NoteAuthor, Date: it.Updated, Body: "Written into the unmerged file:\n\n" + strings.Join(added, "\n")}
	file.SetComments(append(it.Comments, comment))
	edited, err := file.Text()
	if err != nil {
		return
	}
	own.settle(merged, result)
	own.mine[needed(result, name)] = edited
	own.reports = append(own.reports, merge.Report{Kind: merge.KeptBoth, File: result, Text: "has a comment with the text that was written into the file while it had conflict markers"})
}

// linesBut returns the lines of a text that none of the others has, each once and without
// the space around it.
func linesBut(text string, others ...string) []string {
	known := map[string]bool{"": true}
	for _, other := range others {
		for line := range strings.Lines(other) {
			known[strings.TrimSpace(line)] = true
		}
	}
	var lines []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); !known[line] {
			known[line] = true
			lines = append(lines, line)
		}
	}
	return lines
}

// isMoved reports whether somebody deleted or restored the item of an unmerged file since
// git stopped: its file is in the other directory, where git left none.
func (m *merging) isMoved(open *gitmerge.Merge, name string) bool {
	directory, file, _ := strings.Cut(name, "/")
	other := merge.ItemsDir
	if directory == merge.ItemsDir {
		other = merge.TrashDir
	}
	text, here := m.tree[other+"/"+file]
	left, was := open.Left[name]
	return here && was && createdIn(text) == createdIn(left) && !slices.Contains(open.Unmerged, other+"/"+file)
}

// nameOf returns the file of the item that one of the texts is a version of; "" without
// one. Items that were created at the same moment differ by their titles and numbers.
func nameOf(tree merge.Tree, texts ...string) string {
	var wanted []item.Item
	for _, text := range texts {
		if it, err := ticfile.Read(text); err == nil && it.Created != "" {
			wanted = append(wanted, it)
		}
	}
	if len(wanted) == 0 {
		return ""
	}
	best, likeness := "", 0
	for _, name := range slices.Sorted(maps.Keys(tree)) {
		if !strings.HasPrefix(name, merge.ItemsDir+"/") && !strings.HasPrefix(name, merge.TrashDir+"/") {
			continue
		}
		it, err := ticfile.Read(tree[name])
		if err != nil {
			continue
		}
		for _, w := range wanted {
			if like := alike(it, w); like > likeness {
				best, likeness = name, like
			}
		}
	}
	return best
}

// alike returns how sure it is that two texts are versions of one item; 0 if they are not.
func alike(a, b item.Item) int {
	if a.Created != b.Created {
		return 0
	}
	like := 1
	if a.ID == b.ID {
		like++
	}
	if a.Title == b.Title {
		like += 2
	}
	return like
}

// inTree ranks the items of a tree first.
func inTree(tree merge.Tree) func(merge.Birth) int {
	return func(b merge.Birth) int {
		for _, directory := range []string{merge.ItemsDir, merge.TrashDir} {
			if text, ok := tree[directory+"/"+itemdir.FileName(b.ID)]; ok && createdIn(text) == b.Created {
				return 0
			}
		}
		return 1
	}
}

func createdIn(text string) string {
	it, _ := ticfile.Read(text) // what cannot be read has no time
	return it.Created
}
