package items

import (
	"encoding/json"
	"fmt"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/toolset"
)

// Row is an item in a list.
type Row struct {
	ID        item.ID   `json:"id"`
	Title     string    `json:"title"`
	Type      string    `json:"type"`
	Status    string    `json:"status"`
	Priority  string    `json:"priority"`
	Iteration string    `json:"iteration"`
	Assignee  string    `json:"assignee"`
	Labels    []string  `json:"labels"`
	Parent    *item.ID  `json:"parent"`
	DependsOn []item.ID `json:"dependsOn"`
	Updated   string    `json:"updated"`
	// Snippet is the part of the description that a search has found.
	Snippet string `json:"snippet,omitempty"`
}

func rowOf(s *item.Summary) Row {
	return Row{
		ID: s.ID, Title: s.Title, Type: s.Type, Status: s.Status, Priority: s.Priority, Iteration: s.Iteration,
		Assignee: s.Assignee, Labels: listed(s.Labels), Parent: parentOf(s), DependsOn: listed(s.DependsOn), Updated: s.Updated,
	}
}

// parentOf is nil for an item without a parent.
func parentOf(s *item.Summary) *item.ID {
	if s.Parent == 0 {
		return nil
	}
	return &s.Parent
}

// listed is never nil, which would be null in JSON.
func listed[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// Item is a whole item, with as much of its description and comments as fits.
type Item struct {
	ID          item.ID   `json:"id"`
	Title       string    `json:"title"`
	Type        string    `json:"type"`
	Status      string    `json:"status"`
	Iteration   string    `json:"iteration"`
	Priority    string    `json:"priority"`
	Assignee    string    `json:"assignee"`
	Labels      []string  `json:"labels"`
	Created     string    `json:"created"`
	Updated     string    `json:"updated"`
	Parent      *item.ID  `json:"parent"`
	DependsOn   []item.ID `json:"dependsOn"`
	Description string    `json:"description"`
	Comments    []Comment `json:"comments"`
	// Showing says what of description and comments was left out, and how to get
	// it.
	Showing []string `json:"showing,omitempty"`
}

// Comment is what somebody said about an item.
type Comment struct {
	Author string `json:"author"`
	Date   string `json:"date"`
	Body   string `json:"body"`
}

// Bytes of text in one answer: of a description where there are comments or not,
// of the comments, and of each when it was asked for by an offset.
const (
	mixedText = 4 << 10
	aloneText = 8 << 10
	askedText = 32 << 10
)

// section is which part of an item's long texts to show. The offsets are nil if
// they were not asked for.
type section struct {
	description, comments *int
}

// itemOf is an item in full, cut to a section.
func itemOf(it *item.Item, part section) Item {
	out := Item{
		ID: it.ID, Title: it.Title, Type: it.Type, Status: it.Status, Iteration: it.Iteration, Priority: it.Priority,
		Assignee: it.Assignee, Labels: listed(it.Labels), Created: it.Created, Updated: it.Updated,
		Parent: parentOf(&it.Summary), DependsOn: listed(it.DependsOn), Comments: []Comment{},
	}
	for _, c := range it.Comments {
		out.Comments = append(out.Comments, Comment(c))
	}
	room := aloneText
	if len(it.Comments) > 0 {
		room = mixedText
	}
	out.describe(it.Description, part.description, room)
	out.comment(part.comments, room)
	return out
}

// describe shows a part of the description.
func (out *Item) describe(text string, offset *int, room int) {
	begin := 0
	if offset != nil {
		begin, room = min(*offset, len(text)), askedText
	}
	begin = characterAt(text, begin)
	end := characterAt(text, fitting(text, begin, room))
	out.Description = text[begin:end]
	switch {
	case end < len(text):
		out.Showing = append(out.Showing, fmt.Sprintf("description: bytes %d to %d of %d; continue with description_offset=%d", begin, end, len(text), end))
	case begin > 0:
		out.Showing = append(out.Showing, fmt.Sprintf("description: bytes %d to %d of %d", begin, end, len(text)))
	}
}

// fitting is the end of the part of text that begins at begin and takes room
// bytes as JSON, in which some characters take more.
func fitting(text string, begin, room int) int {
	end := min(len(text), begin+room)
	for size := encoded(text[begin:end]); size > room && end > begin+1; size = encoded(text[begin:end]) {
		end = begin + max(1, (end-begin)*room/size)
	}
	return end
}

// encoded is how many bytes v takes in an answer.
func encoded(v any) int {
	data, err := toolset.Marshal(v)
	if err != nil { // strings and structs of strings always encode
		return 0
	}
	return len(data)
}

// characterAt is at, or where the character in whose middle it is begins.
func characterAt(text string, at int) int {
	for at > 0 && at < len(text) && text[at]&0xc0 == 0x80 {
		at--
	}
	return at
}

// comment keeps the comments that are shown: the last ones, or those from an
// offset on. A single one is never cut when it was asked for by its offset.
func (out *Item) comment(offset *int, room int) {
	all := out.Comments
	if offset != nil {
		begin := min(*offset, len(all))
		end := begin
		for used := 0; end < len(all); end++ {
			used += encoded(all[end])
			if end > begin && used > askedText {
				break
			}
		}
		out.Comments = all[begin:end]
		note := fmt.Sprintf("comments: %d to %d of %d", begin, end, len(all))
		if end < len(all) {
			note += fmt.Sprintf("; continue with comments_offset=%d", end)
		}
		if begin > 0 || end < len(all) {
			out.Showing = append(out.Showing, note)
		}
		return
	}
	begin := len(all)
	for used := 0; begin > 0; begin-- {
		used += encoded(all[begin-1])
		if used > room {
			break
		}
	}
	if begin == 0 {
		return
	}
	out.Comments = all[begin:]
	note := fmt.Sprintf("comments: the last %d of %d; continue with comments_offset=0", len(all)-begin, len(all))
	out.Showing = append(out.Showing, note)
}

// Labels are the labels of an item: a text with commas, or a list.
type Labels []string

// UnmarshalJSON takes both forms.
func (l *Labels) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil {
		*l = item.SplitLabels(text)
		return nil
	}
	if err := json.Unmarshal(data, (*[]string)(l)); err != nil {
		return &toolset.ArgumentError{Message: `must be a text with commas, such as "ui, login", or a list of texts`}
	}
	return nil
}

// MarshalText makes it a string in the schema, which has room for one type only.
func (l Labels) MarshalText() ([]byte, error) { return json.Marshal([]string(l)) }
