package ticfile

import (
	"cmp"
	"slices"
	"strings"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/yamlmap"
)

// UnknownKeys returns the keys of the front matter that neither tic nor copse uses.
func (f *File) UnknownKeys() []string {
	known := order()
	return slices.DeleteFunc(f.front.Keys(), func(key string) bool { return slices.Contains(known, key) })
}

// Raw returns the lines of a key of the front matter as they are written.
func (f *File) Raw(key string) (lines string, ok bool) { return f.front.Raw(key) }

// SetRaw writes a key of the front matter as the lines that Raw returned for it; ""
// removes the key.
func (f *File) SetRaw(key, lines string) error {
	return setRaw(f.front, key, lines)
}

// Deleted returns when the item was deleted, "" if that is not noted.
func (f *File) Deleted() string { return f.front.Get(keyDeleted).Text }

// SetCreated records when the item was created.
func (f *File) SetCreated(at string) error {
	if f.front.Get(keyCreated).Text == at {
		return nil
	}
	return f.front.SetText(keyCreated, at)
}

// SetComments replaces all comments. Comments that already exist, in this
// order, stay as they are written.
func (f *File) SetComments(comments []item.Comment) {
	old := f.body.comments()
	if len(old) <= len(comments) && slices.Equal(old, comments[:len(old)]) {
		comments = comments[len(old):]
	} else {
		f.body.text = strings.TrimRight(f.body.described(), "\r\n") + f.body.newline
		f.body.find()
	}
	for _, c := range comments {
		f.body.addComment(c)
	}
}

// RawKeys returns the keys of the configuration that copse does not use.
func (c *Config) RawKeys() []string {
	known := []string{keyTypes, keyStatuses, keyCurrentIteration, keyIterations, keyNextID}
	return slices.DeleteFunc(c.front.Keys(), func(key string) bool { return slices.Contains(known, key) })
}

// Raw returns the lines of a key as they are written.
func (c *Config) Raw(key string) (lines string, ok bool) { return c.front.Raw(key) }

// SetRaw changes a configuration as File.SetRaw changes an item.
func (c *Config) SetRaw(key, lines string) error {
	return setRaw(c.front, key, lines)
}

func setRaw(front *yamlmap.Map, key, lines string) error {
	if lines == "" {
		return front.Delete(key)
	}
	if old, ok := front.Raw(key); ok && old == lines {
		return nil
	}
	return front.SetRaw(key, lines)
}

// SetValues replaces the values that copse uses.
func (c *Config) SetValues(v item.Config) error {
	if err := checkLists(v); err != nil {
		return err
	}
	for _, list := range []struct {
		key      string
		old, new []string
	}{
		{keyTypes, c.values.Types, v.Types},
		{keyStatuses, c.values.Statuses, v.Statuses},
		{keyIterations, c.values.Iterations, v.Iterations},
	} {
		if slices.Equal(list.old, list.new) {
			continue
		}
		if err := c.front.SetList(list.key, list.new); err != nil {
			return err
		}
	}
	c.values.Types, c.values.Statuses, c.values.Iterations = v.Types, v.Statuses, v.Iterations
	return c.SetCurrentIteration(cmp.Or(v.CurrentIteration, c.values.CurrentIteration))
}
