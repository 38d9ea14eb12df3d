// Package form is what an answer contains of a work item: a [Row] in a list, or an [Item] with as much
// of its description and comments as fits. Each part that is left out is named, with how to get it.
package form

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/page"
	"github.com/copse-dev/copse/internal/secret"
	"github.com/copse-dev/copse/internal/toolset"
	"github.com/copse-dev/copse/internal/workflow/backlog"
)

// Row is an item in a list. Empty fields are omitted; show_item has every key.
type Row struct {
	ID        item.ID   `json:"id"`
	Title     string    `json:"title"`
	Type      string    `json:"type"`
	Status    string    `json:"status"`
	Priority  string    `json:"priority,omitempty"`
	Iteration string    `json:"iteration,omitempty"`
	Assignee  string    `json:"assignee,omitempty"`
	Labels    []string  `json:"labels,omitempty"`
	Parent    item.ID   `json:"parent,omitempty"`
	DependsOn []item.ID `json:"dependsOn,omitempty"`
	Updated   string    `json:"updated,omitempty"`
	// Claimed is the holder of the item, and the end of the claim.
	Claimed string `json:"claimed,omitempty"`
	// PR is "merged" if the pull request is merged and the item is open, according to the cache.
	PR string `json:"pr,omitempty"`
	// Snippet is the matching part of the description.
	Snippet string `json:"snippet,omitempty"`
	// Showing describes what was omitted, and where it is.
	Showing []string `json:"showing,omitempty"`
}

// RowOf returns an item as a row of a list.
func RowOf(it *item.Summary) Row {
	s, showing := brief(it)
	return Row{
		ID: s.ID, Title: s.Title, Type: s.Type, Status: s.Status, Priority: s.Priority, Iteration: s.Iteration,
		Assignee: s.Assignee, Labels: s.Labels, Parent: s.Parent, DependsOn: s.DependsOn, Updated: s.Updated,
		Showing: showing,
	}
}

// Limits of usually short values: the characters of a title and of other texts on one line, bytes of a
// list.
const (
	TitleLength = 300
	LineLength  = 100
	shortList   = 600
)

// Line returns foreign text in its displayed form on one line.
func Line(s string, length int) string { return cleantext.Cut(cleantext.Line(s), length) }

// brief returns a summary in its displayed form, and the omissions of its lists.
func brief(it *item.Summary) (s item.Summary, showing []string) {
	s = *it
	s.Title = Line(s.Title, TitleLength)
	for _, text := range []*string{&s.Type, &s.Status, &s.Priority, &s.Iteration, &s.Assignee, &s.Created, &s.Updated} {
		*text = Line(*text, LineLength)
	}
	labels := Lines(s.Labels)
	s.Labels = labels[:page.Fit(labels, ElementSize, shortList)]
	s.DependsOn = listed(s.DependsOn)[:page.Fit(s.DependsOn, ElementSize, shortList)]
	for _, list := range []struct {
		name       string
		shown, all int
	}{{"labels", len(s.Labels), len(it.Labels)}, {"dependsOn", len(s.DependsOn), len(it.DependsOn)}} {
		if list.shown < list.all {
			showing = append(showing, fmt.Sprintf("%s: %d of %d; the resource tic://item/%d has all", list.name, list.shown, list.all, it.ID))
		}
	}
	return s, showing
}

// ElementSize returns the size of an element of a list in an item in bytes.
func ElementSize[T any](v T) int { return Size(v, 3) }

// Lines returns foreign texts in their displayed form; never nil, which would be null in JSON.
func Lines(list []string) []string {
	shown := make([]string, len(list))
	for i, s := range list {
		shown[i] = Line(s, LineLength)
	}
	return shown
}

// listed returns list, or an empty one for nil.
func listed[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// Item is an item with as much of its description and comments as fits.
type Item struct {
	backlog.Document
	// Showing describes what was omitted, and how to get it.
	Showing []string `json:"showing,omitempty"`
}

// Comment is a comment on an item.
type Comment = backlog.Comment

// CommentOf returns a comment in its displayed form.
func CommentOf(c item.Comment) Comment {
	return Comment{Author: Line(c.Author, LineLength), Date: Line(c.Date, LineLength), Body: cleantext.Block(c.Body)}
}

// Section selects the part of an item's long texts. The offsets are nil if they were not given.
type Section struct {
	description, comments *int
	// comment is the start position in the first of the comments.
	comment int
	// room is the maximum size of an explicitly requested long text in bytes.
	room int
}

const (
	// askedText is the size in bytes of a long text that was requested by an offset.
	askedText = 32 << 10
	// besides is the maximum size of the rest of an item in bytes.
	besides = 4 << 10
)

// SectionOf returns the section for a caller. If two texts are requested at once, each has half of
// the caller's room.
func SectionOf(ctx context.Context, description, comments *int, comment int) Section {
	room := max(toolset.RoomFor(ctx, askedText+besides)-besides, besides)
	if description != nil && comments != nil && room < askedText {
		room /= 2
	}
	return Section{description: description, comments: comments, comment: comment, room: room}
}

// Of returns an item, cut to a section and without the secrets of the call in its long texts.
func Of(ctx context.Context, it *item.Item, part Section) Item {
	s, showing := brief(&it.Summary)
	out := Item{
		Document: backlog.Document{
			Fields: backlog.FieldsOf(&s), Comments: []Comment{},
			Branch: Line(it.Link.Branch, LineLength), Worktree: Line(it.Link.Worktree, LineLength),
			PullRequest: Line(it.Link.PullRequest, LineLength),
		},
		Showing: showing,
	}
	for _, f := range it.Former {
		out.Renumbered = append(out.Renumbered, backlog.Renumbered{From: f.ID, On: Line(f.On, LineLength)})
	}
	var comments []Comment
	needed := 0
	for _, c := range it.Comments {
		comments = append(comments, CommentOf(c))
		needed += commentSize(comments[len(comments)-1])
	}
	// Each of the two has at least half of the remaining space, which is several KB whatever the
	// rest has.
	room := Budget - Size(out, 0)
	forDescription := max(room/2, room-needed)
	known := secret.Of(ctx)
	out.describe(known, it.Description, part.description, forDescription, part.room)
	out.comment(known, comments, part, room-min(forDescription, encoded(out.Description)))
	return out
}

// describe shows a part of the description. Offsets refer to the stored text.
func (out *Item) describe(known *secret.Set, text string, offset *int, room, asked int) {
	begin := 0
	if offset != nil {
		begin, room = min(*offset, len(text)), asked
	}
	begin = characterAt(text, begin)
	end := characterAt(text, fitting(text, begin, room))
	out.Description = cleantext.Block(known.Between(text, begin, end))
	switch {
	case end < len(text):
		out.Showing = append(out.Showing, fmt.Sprintf("description: bytes %d to %d of %d; continue with description_offset=%d", begin, end, len(text), end))
	case begin > 0:
		out.Showing = append(out.Showing, fmt.Sprintf("description: bytes %d to %d of %d", begin, end, len(text)))
	}
}

// Cut returns the beginning of text that takes room bytes as JSON, without known secrets.
func Cut(known *secret.Set, text string, room int) string {
	end := characterAt(text, fitting(text, 0, room))
	if end == len(text) {
		return text
	}
	return known.Between(text, 0, end) + "…"
}

// fitting returns the end of the part of text that begins at begin and takes room bytes as JSON, in
// which some characters take more.
func fitting(text string, begin, room int) int {
	end := min(len(text), begin+room)
	for size := encoded(text[begin:end]); size > room && end > begin+1; size = encoded(text[begin:end]) {
		end = begin + max(1, (end-begin)*room/size)
	}
	return end
}

// encoded returns the size of v in an answer in bytes.
func encoded(v any) int {
	data, err := toolset.Marshal(v)
	if err != nil { // strings and structs of strings always encode
		return 0
	}
	return len(data)
}

// characterAt returns at, moved back to the start of its character.
func characterAt(text string, at int) int {
	for at > 0 && at < len(text) && text[at]&0xc0 == 0x80 {
		at--
	}
	return at
}

func commentSize(c Comment) int { return Size(c, 2) }

// comment shows the comments from an offset on, or else the last ones.
func (out *Item) comment(known *secret.Set, all []Comment, part Section, room int) {
	if part.comments != nil {
		out.commentsFrom(known, all, min(*part.comments, len(all)), part.comment, part.room)
		return
	}
	begin := len(all) - page.Fit(Backward(all), commentSize, room)
	out.Comments = append(out.Comments, all[begin:]...)
	if last := len(all) - 1; begin == last && commentSize(all[last]) > room {
		out.Comments[0].Body = Cut(known, all[last].Body, room)
		part := fmt.Sprintf("comments: the beginning of the last of %d; continue it with comments_offset=%d", len(all), last)
		if last > 0 {
			part += ", or the earlier ones with comments_offset=0"
		}
		out.Showing = append(out.Showing, part)
		return
	}
	if begin > 0 {
		out.Showing = append(out.Showing, fmt.Sprintf("comments: the last %d of %d; continue with comments_offset=0", len(all)-begin, len(all)))
	}
}

// Backward returns a list in the opposite order.
func Backward[T any](all []T) []T {
	all = slices.Clone(all)
	slices.Reverse(all)
	return all
}

// commentsFrom shows requested comments, the first one from a byte on. It cuts a single one that is
// too long.
func (out *Item) commentsFrom(known *secret.Set, all []Comment, begin, from, asked int) {
	end := begin + page.Fit(all[begin:], commentSize, asked)
	out.Comments = append(out.Comments, all[begin:end]...)
	if begin < end && (from > 0 || commentSize(all[begin]) > asked) {
		out.partOfComment(known, all[begin].Body, begin, from, asked)
	}
	if begin == 0 && end == len(all) {
		return
	}
	note := fmt.Sprintf("comments: %d to %d of %d", begin, end, len(all))
	if end < len(all) {
		note += fmt.Sprintf("; continue with comments_offset=%d", end)
	}
	out.Showing = append(out.Showing, note)
}

// partOfComment shows a part of the first displayed comment.
func (out *Item) partOfComment(known *secret.Set, body string, number, from, room int) {
	from = characterAt(body, min(from, len(body)))
	end := characterAt(body, fitting(body, from, room))
	out.Comments[0].Body = known.Between(body, from, end)
	note := fmt.Sprintf("comment %d: bytes %d to %d of %d", number, from, end, len(body))
	if end < len(body) {
		note += fmt.Sprintf("; continue with comments_offset=%d, comment_offset=%d", number, end)
	}
	out.Showing = append(out.Showing, note)
}

// Indent is the indentation of the text of an answer.
const Indent = "  "

// Budget is the maximum size of the displayed items of an answer in bytes. It leaves room for
// warnings, and for a cursor.
const Budget = page.DefaultBudget

// Size returns the size of v in the text in bytes, at a depth of nesting.
func Size(v any, depth int) int {
	data, err := toolset.Marshal(v)
	if err != nil { // a value that cannot be encoded is not shown either
		return 0
	}
	var text bytes.Buffer
	prefix := strings.Repeat(Indent, depth)
	if json.Indent(&text, data, prefix, Indent) != nil {
		return 0
	}
	return len(prefix) + text.Len() + len(",\n")
}
