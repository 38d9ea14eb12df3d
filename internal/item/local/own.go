package local

import (
	"maps"
	"slices"
	"strings"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/gitmerge"
	"github.com/copse-dev/copse/internal/item/itemfolder"
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
		case here && marked:
			edited = append(edited, name) // perhaps
		case here && isVersion(open, text):
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
	result := nameOf(merged, createdIn(text))
	if result == "" {
		return
	}
	own.settle(result, merged[result], createdIn(text))
	own.mine[needed(result, name)] = text
}

// needed returns the file for an item that somebody edited under a name: who edits an
// item needs it, also if the merge deleted it.
func needed(result, name string) string {
	if file, deleted := strings.CutPrefix(result, trashFolder+"/"); deleted && strings.HasPrefix(name, itemsFolder+"/") {
		return itemsFolder + "/" + file
	}
	return result
}

// settle makes the file of the result the only one that git left of an item.
func (own *ownChanges) settle(result, text, created string) {
	for _, tree := range []merge.Tree{own.left, own.mine} {
		for name := nameOf(tree, created); name != ""; name = nameOf(tree, created) {
			delete(tree, name)
		}
	}
	own.left[result] = text
}

// keepLines keeps what somebody wrote into a file that still has marks of git: the lines
// that no version of it has, in a comment. Which version they are meant for is unknown.
func (own *ownChanges) keepLines(open *gitmerge.Merge, merged merge.Tree, name, text string) {
	a, b, _ := ticfile.Versions(text)
	added := linesBut(a+"\n"+b, open.Base[name], open.Ours[name], open.Theirs[name], merged[name])
	if len(added) > 0 { // git can have the lines from where the file has another name
		for _, tree := range []merge.Tree{open.Base, open.Ours, open.Theirs, merged} {
			added = linesBut(strings.Join(added, "\n"), slices.Collect(maps.Values(tree))...)
		}
	}
	result := nameOf(merged, createdIn(a), createdIn(b))
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
	own.settle(result, merged[result], it.Created)
	own.mine[needed(result, name)] = edited
	own.reports = append(own.reports, merge.Report{Kind: merge.KeptBoth, File: result, Text: "has a comment with what was written into the file while it had marks of git"})
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
	folder, file, _ := strings.Cut(name, "/")
	other := itemsFolder
	if folder == itemsFolder {
		other = trashFolder
	}
	text, here := m.tree[other+"/"+file]
	left, was := open.Left[name]
	return here && was && createdIn(text) == createdIn(left) && !slices.Contains(open.Unmerged, other+"/"+file)
}

// nameOf returns the file of the item with one of the times of creation; "" without one.
func nameOf(tree merge.Tree, created ...string) string {
	for _, name := range slices.Sorted(maps.Keys(tree)) {
		if at := createdIn(tree[name]); at != "" && slices.Contains(created, at) && (strings.HasPrefix(name, itemsFolder+"/") || strings.HasPrefix(name, trashFolder+"/")) {
			return name
		}
	}
	return ""
}

// inTree ranks the items of a tree first.
func inTree(tree merge.Tree) func(merge.Birth) int {
	return func(b merge.Birth) int {
		for _, folder := range []string{itemsFolder, trashFolder} {
			if text, ok := tree[folder+"/"+itemfolder.FileName(b.ID)]; ok && createdIn(text) == b.Created {
				return 0
			}
		}
		return 1
	}
}

func createdIn(text string) string {
	file, err := ticfile.Parse(text)
	if err != nil {
		return ""
	}
	it, _, err := file.Item()
	if err != nil {
		return ""
	}
	return it.Created
}
