package archive

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/changes"
	"github.com/copse-dev/copse/internal/item/claimfile"
	"github.com/copse-dev/copse/internal/item/historyfile"
	"github.com/copse-dev/copse/internal/item/linkfile"
	"github.com/copse-dev/copse/internal/item/renumbered"
	"github.com/copse-dev/copse/internal/item/ticfile"
)

// The names of the files of a store.
const (
	configName = "config.yml"
	itemsDir   = "items"
	trashDir   = "trash"
	linksDir   = "links"
	extension  = ".md"
)

// LinkName returns the name of the file with the link of an item that was created then,
// false if it can have none.
type LinkName func(created string) (string, bool)

// Read returns the archive of the files of a store, by name, and of the histories of its
// items.
func Read(files map[string]string, histories map[item.ID][]changes.Change, link LinkName) (Archive, error) {
	a := Archive{Files: maps.Clone(files)}
	if err := a.readConfig(files[configName]); err != nil {
		return Archive{}, err
	}
	delete(a.Files, configName)
	records := renumbered.Parse(files[renumbered.Name])
	for name, text := range files {
		dir := path.Dir(name)
		id, err := item.ParseID(strings.TrimSuffix(path.Base(name), extension))
		if err != nil || dir != itemsDir && dir != trashDir {
			continue
		}
		r, err := readRecord(id, text, dir == trashDir)
		if err != nil {
			return Archive{}, fmt.Errorf("%s %w; correct it first: `copse item doctor` shows what is wrong", name, err)
		}
		for _, f := range renumbered.Of(records, id, r.Created) {
			r.Former = append(r.Former, item.Former{ID: f.From, On: f.On})
		}
		if name, ok := link(r.Created); ok {
			if text, ok := files[name]; ok {
				r.Link = linkfile.Parse(text)
				// A file with other data remains unchanged.
				if linkfile.Text(r.Link, id) == text {
					delete(a.Files, name)
				}
			}
		}
		delete(a.Files, name)
		r.History = histories[id]
		a.Records = append(a.Records, r)
	}
	slices.SortFunc(a.Records, func(a, b Record) int { return cmp.Compare(a.ID, b.ID) })
	for i, r := range a.Records {
		if i > 0 && a.Records[i-1].ID == r.ID {
			return Archive{}, fmt.Errorf("there are two work items #%d, one of them deleted; remove %s/%d%s first", r.ID, trashDir, r.ID, extension)
		}
		a.Config.NextID = max(a.Config.NextID, r.ID+1)
	}
	return a, a.check()
}

func (a *Archive) readConfig(text string) error {
	c, err := ticfile.ParseConfig(text)
	if err != nil {
		return fmt.Errorf("%s %w", configName, err)
	}
	a.Config = c.Values()
	a.Config.NextID = max(a.Config.NextID, 1)
	if plain, err := configText(a.Config, ticfile.NewConfig); err != nil || plain != text {
		a.ConfigText = text
	}
	return nil
}

// configText returns a configuration file with the values, based on another one.
func configText(c item.Config, from string) (string, error) {
	file, err := ticfile.ParseConfig(from)
	if err != nil {
		return "", err
	}
	if err := errors.Join(file.SetValues(c), file.SetNextID(c.NextID)); err != nil {
		return "", err
	}
	if !slices.Equal(file.Values().DoneStatuses, c.DoneStatuses) {
		if err := file.SetDoneStatuses(c.DoneStatuses); err != nil {
			return "", err
		}
	}
	return file.Text(), nil
}

func readRecord(id item.ID, text string, inTrash bool) (Record, error) {
	file, err := ticfile.Parse(text)
	if err != nil {
		return Record{}, err
	}
	it, _, err := file.Item()
	if err != nil {
		return Record{}, err
	}
	it.ID = id
	r := Record{Item: it, InTrash: inTrash}
	if inTrash {
		lost := file.Lost()
		r.Deleted, r.LostChildren, r.LostDependents = file.Deleted(), lost.Children, lost.Dependents
	}
	if plain, err := r.text(); err != nil || plain != text {
		r.Text = text
	}
	return r, nil
}

// text returns a file with exactly these fields.
func (r Record) text() (string, error) {
	file, err := ticfile.New(r.Item)
	if err != nil {
		return "", err
	}
	return r.finished(file)
}

// finished returns the text of a file, with the notes of a deletion.
func (r Record) finished(file *ticfile.File) (string, error) {
	if r.InTrash {
		if err := file.Delete(r.Deleted, ticfile.Lost{Children: r.LostChildren, Dependents: r.LostDependents}); err != nil {
			return "", err
		}
	}
	return file.Text()
}

// Write returns the files of a store, by name.
func (a Archive) Write(link LinkName) (map[string]string, error) {
	files := maps.Clone(a.Files)
	if files == nil {
		files = make(map[string]string)
	}
	config, err := configText(a.Config, cmp.Or(a.ConfigText, ticfile.NewConfig))
	if err != nil {
		return nil, fmt.Errorf("write %s: %w", configName, err)
	}
	if _, taken := files[configName]; taken {
		return nil, &NameError{Name: configName, Other: "the configuration"}
	}
	files[configName] = config
	for _, r := range a.Records {
		text, err := r.file()
		if err != nil {
			return nil, fmt.Errorf("write work item #%d: %w", r.ID, err)
		}
		dir := itemsDir
		if r.InTrash {
			dir = trashDir
		}
		file := path.Join(dir, r.ID.String()+extension)
		if _, taken := files[file]; taken {
			return nil, &NameError{Name: file, Other: "the file of work item #" + r.ID.String()}
		}
		files[file] = text
		name, ok := link(r.Created)
		if _, kept := files[name]; ok && !kept && r.Link != (item.Link{}) {
			files[name] = linkfile.Text(r.Link, r.ID)
		}
	}
	return files, checkNames(files)
}

// NameError reports that a file cannot be in a store, because another file or directory has its
// name.
type NameError struct {
	Name, Other string
}

func (e *NameError) Error() string {
	return fmt.Sprintf("the file %s of the store has the place of %s; rename or remove it first, in the table copse.file of a database", cleantext.Line(e.Name), cleantext.Line(e.Other))
}

// checkNames refuses names of which only one can exist in a directory of a file system that ignores
// the case of letters, and names of files that are those of directories.
func checkNames(files map[string]string) error {
	taken := make(map[string]string, len(files))
	claim := func(name, form string) error {
		key := strings.ToLower(strings.ToUpper(name))
		if other, ok := taken[key]; ok && other != form {
			return &NameError{Name: form, Other: other}
		}
		taken[key] = form
		return nil
	}
	for _, dir := range []string{itemsDir, trashDir, linksDir, historyfile.Directory, claimfile.Directory} {
		taken[dir] = dir + "/"
	}
	taken[configName] = configName
	for _, name := range slices.Sorted(maps.Keys(files)) {
		for dir := path.Dir(name); dir != "." && dir != "/"; dir = path.Dir(dir) {
			if err := claim(dir, dir+"/"); err != nil {
				return &NameError{Name: name, Other: taken[strings.ToLower(strings.ToUpper(dir))]}
			}
		}
		if err := claim(name, name); err != nil {
			return err
		}
	}
	return nil
}

// file returns the text of a record's file: its original text, updated, if that can express all
// fields.
func (r Record) file() (string, error) {
	if r.Text == "" {
		return r.text()
	}
	if was, err := readRecord(r.ID, r.Text, r.InTrash); err == nil && r.says(was) {
		return r.Text, nil
	}
	file, err := ticfile.Parse(r.Text)
	if err != nil {
		return r.text()
	}
	old, _, err := file.Item()
	if err != nil || len(old.Comments) > len(r.Comments) || !slices.Equal(old.Comments, r.Comments[:len(old.Comments)]) {
		return r.text()
	}
	if err := file.Update(r.ID, item.Patch{
		Title: &r.Title, Type: &r.Type, Status: &r.Status, Priority: &r.Priority, Assignee: &r.Assignee, Iteration: &r.Iteration,
		Labels: &r.Labels, Parent: &r.Parent, DependsOn: &r.DependsOn, Description: &r.Description,
	}, r.Updated); err != nil {
		return "", err
	}
	for _, c := range r.Comments[len(old.Comments):] {
		if err := file.AddComment(r.ID, c); err != nil {
			return "", err
		}
	}
	return r.finished(file)
}

// says reports whether a record has the same fields as another.
func (r Record) says(other Record) bool {
	r.Text, r.Link, r.Former, r.History = "", item.Link{}, nil, nil
	other.Text, other.Link, other.Former, other.History = "", item.Link{}, nil, nil
	return r.form() == other.form()
}
