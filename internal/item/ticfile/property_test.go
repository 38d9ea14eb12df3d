package ticfile_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/ticfile"
)

// hostile draws texts in which all meets that the format and YAML have rules
// for.
func hostile() *rapid.Generator[string] {
	piece := rapid.OneOf(
		rapid.SampledFrom([]string{
			"\n", "\n", "\n\n", "\r\n", "\r", "---", "\n---\n", "## Comments", "\n## Comments\n", "#", "# Comments", "\\", "\\---",
			"author: x", "\nauthor: x\n", "date: y", "\n\n## Comments\n\n---\nauthor: x\ndate: y\n\nz", "\"", "'", ": ", " #", "- ",
			"yes", "1_000", "2026-01-01", "true", "null", " ", "  ", "\t", "\ufeff", "\u2028", "\u0085", "\x00", "\x1b[31m", "日本語",
			"<<<<<<<", "a rather long run of words that goes on and on, beyond the eighty columns of a line and further still, as titles do",
		}),
		rapid.String(),
	)
	return rapid.Map(rapid.SliceOfN(piece, 0, 12), func(pieces []string) string { return strings.Join(pieces, "") })
}

func hostileItem(t *rapid.T) item.Item {
	it := item.Item{
		Summary: item.Summary{
			ID:        item.ID(rapid.Int64Range(1, int64(item.MaxID)).Draw(t, "id")),
			Title:     hostile().Draw(t, "title"),
			Type:      rapid.SampledFrom([]string{"task", "1", "a: b"}).Draw(t, "type"),
			Status:    hostile().Draw(t, "status"),
			Iteration: hostile().Draw(t, "iteration"),
			Priority:  "low",
			Assignee:  hostile().Draw(t, "assignee"),
			Labels:    rapid.SliceOfN(hostile().Filter(func(s string) bool { return s != "" }), 0, 3).Draw(t, "labels"),
			Created:   "2026-01-02T03:04:05.678Z",
			Updated:   "2026-01-02T03:04:05.678Z",
			Parent:    item.ID(rapid.Int64Range(0, 3).Draw(t, "parent")),
			DependsOn: rapid.SliceOfN(rapid.Map(rapid.Int64Range(1, 9), func(n int64) item.ID { return item.ID(n) }), 0, 3).Draw(t, "deps"),
		},
		Description: item.Text(hostile().Draw(t, "description")),
	}
	for range rapid.IntRange(0, 3).Draw(t, "comments") {
		it.Comments = append(it.Comments, hostileComment(t))
	}
	return it
}

func hostileComment(t *rapid.T) item.Comment {
	body := rapid.Map(hostile(), item.Text).Filter(func(s string) bool { return s != "" })
	return item.Comment{Author: hostile().Draw(t, "author"), Date: "2026-01-02T03:04:05.678Z", Body: body.Draw(t, "body")}
}

func mustParse(t *rapid.T, text string) (*ticfile.File, item.Item) {
	f, err := ticfile.Parse(text)
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	it, _, err := f.Item()
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return f, it
}

func same(t *rapid.T, what string, want, got any) {
	if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
		t.Fatalf("%s (-want +got):\n%s", what, d)
	}
}

func mustText(t *rapid.T, f *ticfile.File) string {
	s, err := f.Text()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// What is written is read: by us as it was, by tic with the escapes.
func TestEverythingSurvives(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		it := hostileItem(t)
		f, err := ticfile.New(it)
		if err != nil {
			t.Fatal(err)
		}
		written := mustText(t, f)
		f, got := mustParse(t, written)
		same(t, written, it, got)
		readByTic(t, written, it)

		if rapid.Bool().Draw(t, "DOS") {
			f, got = mustParse(t, strings.ReplaceAll(written, "\n", "\r\n"))
			got.Title, got.Status, got.Iteration, got.Assignee, got.Labels = it.Title, it.Status, it.Iteration, it.Assignee, it.Labels
			same(t, "with the line ends of DOS", it, got)
		}
		changes(t, f, it)
	})
}

// changes updates and comments the item in f several times.
func changes(t *rapid.T, f *ticfile.File, it item.Item) {
	for range rapid.IntRange(1, 4).Draw(t, "changes") {
		var p item.Patch
		it.Updated = rapid.StringMatching(`2027-0[1-9]-0[1-9]`).Draw(t, "now")
		switch rapid.SampledFrom([]string{"title", "description", "labels", "comment", "parent"}).Draw(t, "change") {
		case "title":
			it.Title = hostile().Draw(t, "new title")
			p.Title = &it.Title
		case "description":
			it.Description = item.Text(hostile().Draw(t, "new description"))
			p.Description = &it.Description
		case "labels":
			it.Labels = []string{"new"}
			p.Labels = &it.Labels
		case "parent":
			it.Parent = item.ID(rapid.Int64Range(0, 9).Draw(t, "new parent"))
			p.Parent = &it.Parent
		case "comment":
			c := hostileComment(t)
			c.Date = it.Updated
			it.Comments = append(it.Comments, c)
			if err := f.AddComment(it.ID, c); err != nil {
				t.Fatal(err)
			}
		}
		if err := f.Update(it.ID, p, it.Updated); err != nil {
			t.Fatal(err)
		}
		var got item.Item
		f, got = mustParse(t, mustText(t, f))
		same(t, "after a change", it, got)
	}
}

// readByTic checks how tic reads the body of an item that we have written.
func readByTic(t *rapid.T, text string, it item.Item) {
	description, comments := ticBody(text)
	backslashes := strings.NewReplacer(`\`, "")
	trim := func(s string) string { return backslashes.Replace(strings.TrimFunc(s, isSpaceInJS)) }
	same(t, "description as tic reads it", trim(it.Description), backslashes.Replace(description))
	if len(comments) != len(it.Comments) {
		t.Fatalf("tic reads %d comments of %d: %q", len(comments), len(it.Comments), comments)
	}
	for i, c := range it.Comments {
		same(t, "date as tic reads it", c.Date, comments[i].Date)
		same(t, "comment as tic reads it", trim(c.Body), backslashes.Replace(comments[i].Body))
		if c.Author == strings.TrimSpace(strings.TrimFunc(c.Author, isSpaceInJS)) && !strings.ContainsAny(c.Author, "\n\r\"") {
			same(t, "author as tic reads it", c.Author, comments[i].Author)
		}
	}
}

// ticBody returns the part after the front matter as tic 1.26 reads it.
func ticBody(text string) (description string, comments []item.Comment) {
	front := regexp.MustCompile(`^---\r?\n([\s\S]*?)\r?\n---.*\n?`).FindString(text)
	body := text[len(front):]
	before, after, ok := strings.Cut(body, "## Comments")
	if !ok {
		return strings.TrimFunc(body, isSpaceInJS), nil
	}
	rest := strings.TrimFunc(after, isSpaceInJS)
	for block := range strings.SplitSeq(rest, "\n---\n") {
		if strings.TrimFunc(block, isSpaceInJS) == "" {
			continue
		}
		comments = append(comments, ticComment(strings.Split(block, "\n")))
	}
	return strings.TrimFunc(before, isSpaceInJS), comments
}

func ticComment(lines []string) item.Comment {
	var c item.Comment
	for len(lines) > 0 && lines[0] == "---" {
		lines = lines[1:]
	}
	for ; len(lines) > 0; lines = lines[1:] {
		if author, ok := strings.CutPrefix(lines[0], "author: "); ok {
			c.Author = author
		} else if date, ok := strings.CutPrefix(lines[0], "date: "); ok {
			c.Date = date
		} else {
			break
		}
	}
	c.Body = strings.TrimFunc(strings.Join(lines, "\n"), isSpaceInJS)
	return c
}

// isSpaceInJS is what String.prototype.trim of JavaScript takes away.
func isSpaceInJS(r rune) bool {
	return strings.ContainsRune("\t\n\v\f\r \u00a0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff", r) || '\u2000' <= r && r <= '\u200a'
}

// FuzzParse looks for files whose untouched parts change.
func FuzzParse(f *testing.F) {
	for _, name := range []string{"plain.md", "empty.md", "full.md", "folded.md", "comment-only.md"} {
		f.Add(sample(f, name))
	}
	f.Add(edited)
	f.Add("---\nid: 1\n---\na\n## Comments\nb\n\n## Comments\n\n---\nauthor: x\n\n\\---\n---\nc")
	f.Add("---\r\nA: \n---\r")
	f.Fuzz(func(t *testing.T, source string) {
		file, err := ticfile.Parse(source)
		if err != nil {
			return
		}
		if got := text(t, file); got != source {
			t.Fatalf("reading changes %q to %q", source, got)
		}
		want, _, err := file.Item()
		if err != nil {
			return
		}
		want.Status, want.Updated = "new: status", "2026-01-01"
		comment := item.Comment{Author: "x", Date: want.Updated, Body: "---"}
		want.Comments = append(want.Comments, comment)
		if file.Update(want.ID+1, item.Patch{Status: &want.Status}, "then") != nil || file.AddComment(want.ID+1, comment) != nil {
			return // its YAML is too special
		}
		want.ID++
		got, _, err := parse(t, text(t, file)).Item()
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
			t.Fatalf("%q became %q (-want +got):\n%s", source, text(t, file), d)
		}
	})
}

func BenchmarkItem(b *testing.B) {
	source := sample(b, "full.md")
	b.ReportAllocs()
	for b.Loop() {
		f, err := ticfile.Parse(source)
		if err != nil {
			b.Fatal(err)
		}
		if _, _, err := f.Item(); err != nil {
			b.Fatal(err)
		}
	}
}
