// Package ticfile reads and writes the files of a tic store: items, deleted items, and the
// configuration. The format is that of tic 1.26, an npm package, which can read what this package
// writes; this package reads its files, too.
//
// An item file is YAML front matter between lines "---", the description, and,
// if there are comments, a line "## Comments" with the comments behind it:
//
//	---
//	id: "3"
//	title: …
//	---
//	The description.
//
//	## Comments
//
//	---
//	author: alice
//	date: 2026-01-02T15:04:05.000Z
//
//	The comment.
//
// tic misreads two texts. It treats the first "## Comments", even in the middle of a line, as the
// end of the description, and each later line "---" as the end of a comment. This package therefore
//
//   - adds a backslash to such a text: it writes "## Comments" in a description as "#\# Comments",
//     and a line "---" in a comment as "\---". A text that already has backslashes there gets one
//     more. Markdown hides the backslash, tic shows it, and this package removes it when it reads
//     the text;
//   - writes the author of a comment as a quoted string if the plain line "author: …" would lose
//     something, such as a line break;
//   - recognizes a comment only by its beginning: a line "---" and then the author or date. It
//     therefore reads in full what tic wrote and would truncate.
//
// The white space that [item.Text] drops is not a part of descriptions and comments.
//
// A [File] or [Config] that is read and written back is the same, byte for byte, and a change
// touches nothing else: unknown keys, YAML comments, quotes, line endings (a file whose first line
// ends in CRLF has them throughout), a byte order mark, white space.
package ticfile

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/yamlmap"
)

// MaxSize is the size of the largest file that is read or written.
const MaxSize = 8 << 20

// maxFront is the maximum size of the front matter, which every list of items needs. It has space
// for more than ten thousand labels or dependencies.
const maxFront = 256 << 10

// The keys of the front matter, as tic orders them.
const (
	keyID        = "id"
	keyTitle     = "title"
	keyType      = "type"
	keyStatus    = "status"
	keyIteration = "iteration"
	keyPriority  = "priority"
	keyAssignee  = "assignee"
	keyLabels    = "labels"
	keyCreated   = "created"
	keyUpdated   = "updated"
	keyParent    = "parent"
	keyDependsOn = "depends_on"
)

// order has those of a deleted item beside the time of the update. Git takes a deletion for
// a change of the name, and would put into the trash what somebody else did to the item. So
// near to each other the two changes are a conflict, which is merged here.
func order() []string {
	return []string{
		keyID, keyTitle, keyType, keyStatus, keyIteration, keyPriority, keyAssignee, keyLabels,
		keyCreated, keyUpdated, keyDeleted, keyDeletedChildren, keyDeletedDependents, keyParent, keyDependsOn,
	}
}

const fence = "---"

// File is the file of an item. It is not for concurrent use.
type File struct {
	opening string // the first line, with a byte order mark if there is one
	front   *yamlmap.Map
	closing string // the line behind the front matter
	body    body
}

// Parse reads an item file. The error states the problem, and its text continues after the name of
// the file: "has no front matter".
func Parse(text string) (*File, error) {
	if len(text) > MaxSize {
		return nil, fmt.Errorf("has %d bytes; the limit is %d", len(text), MaxSize)
	}
	f, err := parse(text)
	if err != nil && hasConflict(text) {
		return nil, ErrConflict
	}
	return f, err
}

// ErrConflict reports that there are the marks of a merge that was not finished.
var ErrConflict = errors.New("has merge conflict markers; run `copse item doctor --repair`")

// Read returns the item in a text, as [File.Item] does, for those who need neither the file nor the
// problems of its parts. After an error, it is the zero item.
func Read(text string) (item.Item, error) {
	file, err := Parse(text)
	if err != nil {
		return item.Item{}, err
	}
	it, _, err := file.Item()
	if err != nil {
		return item.Item{}, err
	}
	return it, nil
}

func parse(text string) (*File, error) {
	f := &File{}
	f.opening, text = cutLine(text)
	if bare(strings.TrimPrefix(f.opening, "\ufeff")) != fence {
		return nil, errors.New("has no front matter: its first line is not ---")
	}
	front, rest, ok := cutFront(text)
	if !ok {
		return nil, errors.New("has no line --- after the front matter")
	}
	if len(front) > maxFront {
		return nil, fmt.Errorf("has %d bytes of front matter; the limit is %d", len(front), maxFront)
	}
	f.closing, f.body.text = cutLine(rest)
	if strings.TrimRight(bare(f.closing), " \t") != fence {
		return nil, errors.New("has more than --- on the line after the front matter")
	}
	f.body.newline = "\n"
	if strings.HasSuffix(f.opening, "\r\n") {
		f.body.newline = "\r\n"
	}
	var err error
	if f.front, err = yamlmap.Parse(front, order()...); err != nil {
		if at, ok := errors.AsType[*yamlmap.SyntaxError](err); ok && at.Line > 0 {
			err = &yamlmap.SyntaxError{Line: at.Line + 1, Problem: at.Problem} // as an editor counts
		}
		return nil, fmt.Errorf("has invalid front matter: %w", err)
	}
	if len(f.front.Keys()) == 0 {
		return nil, errors.New("has empty front matter")
	}
	f.body.find()
	return f, nil
}

// cutFront cuts text before the first line that begins like a fence.
func cutFront(text string) (front, rest string, ok bool) {
	if strings.HasPrefix(text, fence) {
		return "", text, true
	}
	i := strings.Index(text, "\n"+fence)
	if i < 0 {
		return "", "", false
	}
	return text[:i+1], text[i+1:], true
}

// cutLine cuts text behind its first line break.
func cutLine(text string) (line, rest string) {
	i := strings.IndexByte(text, '\n') + 1
	if i == 0 {
		return text, ""
	}
	return text[:i], text[i:]
}

// bare returns a line without its break.
func bare(line string) string {
	return strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
}

// New returns the file of an item.
func New(it item.Item) (*File, error) {
	front, err := yamlmap.Parse("", order()...)
	if err != nil {
		return nil, err
	}
	f := &File{opening: fence + "\n", front: front, closing: fence + "\n", body: body{text: "\n", newline: "\n"}}
	f.body.find()
	err = errors.Join(
		front.SetText(keyID, it.ID.String()),
		front.SetText(keyTitle, it.Title),
		front.SetText(keyType, it.Type),
		front.SetText(keyStatus, it.Status),
		front.SetText(keyIteration, it.Iteration),
		front.SetText(keyPriority, it.Priority),
		front.SetText(keyAssignee, it.Assignee),
		front.SetList(keyLabels, it.Labels),
		front.SetText(keyCreated, it.Created),
		front.SetText(keyUpdated, it.Updated),
		f.SetParent(it.Parent),
		f.SetDependsOn(it.DependsOn),
	)
	f.body.setDescription(it.Description)
	for _, c := range it.Comments {
		f.body.addComment(c)
	}
	return f, err
}

// Text returns the text of the file.
func (f *File) Text() (string, error) {
	closing := f.closing
	if f.body.text != "" && !strings.HasSuffix(closing, "\n") {
		closing = bare(closing) + f.body.newline // a file can end in the middle of a break
	}
	front := f.front.Text()
	if len(front) > maxFront {
		return "", &item.InvalidError{
			Problem: fmt.Sprintf("The title, the labels, the dependencies, and the other fields of the item would have %d bytes, more than the %d (256 KiB) allowed", len(front), maxFront),
		}
	}
	text := f.opening + front + closing + f.body.text
	if len(text) > MaxSize {
		return "", &item.InvalidError{
			Problem: fmt.Sprintf("The item would have %d bytes, more than the %d (8 MiB) allowed for all of it", len(text), MaxSize),
		}
	}
	return text, nil
}

// Item returns the item. It leaves out parts of the file that it cannot use, and returns them as
// problems, whose texts continue after the name of the file. The error is for a file that is not an
// item at all.
func (f *File) Item() (it item.Item, problems []string, err error) {
	r := reader{front: f.front}
	it.Summary = item.Summary{
		ID:        r.reference(keyID),
		Title:     r.text(keyTitle),
		Type:      r.text(keyType),
		Status:    r.text(keyStatus),
		Iteration: r.text(keyIteration),
		Priority:  r.text(keyPriority),
		Assignee:  r.text(keyAssignee),
		Labels:    r.labels(),
		Created:   r.text(keyCreated),
		Updated:   r.text(keyUpdated),
		Parent:    r.reference(keyParent),
		DependsOn: r.references(keyDependsOn),
	}
	if it.Type == "" {
		it.Type = item.DefaultType
	}
	it.Description = f.body.description()
	it.Comments = f.body.comments()
	return it, r.problems, r.err
}

// reader takes values from a front matter.
type reader struct {
	front    *yamlmap.Map
	problems []string
	err      error
}

func (r *reader) problem(format string, args ...any) {
	r.problems = append(r.problems, fmt.Sprintf(format, args...))
}

func (r *reader) text(key string) string {
	v := r.front.Get(key)
	switch v.Kind {
	case yamlmap.List, yamlmap.Other:
		r.err = fmt.Errorf("has invalid front matter: %s is not text", key)
	}
	return v.Text
}

func (r *reader) reference(key string) item.ID {
	v := r.front.Get(key)
	if v.Kind == yamlmap.Missing || v.Kind == yamlmap.Null || v.Kind == yamlmap.Scalar && v.Text == "" {
		return 0
	}
	id, err := item.ParseID(v.Text)
	if err != nil {
		r.problem("has the %s %q, which is not the number of an item; copse ignores it", key, v.Text)
	}
	return id
}

func (r *reader) references(key string) []item.ID {
	v := r.front.Get(key)
	if v.Kind == yamlmap.Scalar && v.Text != "" || v.Kind == yamlmap.Other {
		r.problem("has a %s that is not a list; copse ignores it", key)
	}
	var ids []item.ID
	for _, text := range v.Items {
		id, err := item.ParseID(text)
		if err != nil {
			r.problem("has the %s %q, which is not the number of an item; copse ignores it", key, text)
			continue
		}
		ids = append(ids, id)
	}
	return ids
}

func (r *reader) labels() []string {
	v := r.front.Get(keyLabels)
	switch v.Kind {
	case yamlmap.Scalar:
		return item.SplitLabels(v.Text)
	case yamlmap.Other:
		r.problem("has labels that are not a list of strings; copse ignores them")
	}
	return slices.DeleteFunc(slices.Clone(v.Items), func(s string) bool { return s == "" })
}
