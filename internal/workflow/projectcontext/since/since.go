// Package since describes what has changed in a project's context since an earlier answer.
//
// Every answer has a [Token]. For a token, [Memory.Compare] returns the differences: new facts,
// changed ones, and those that no longer hold. A small file, which all processes of a user share,
// stores the answer. Without the file, the token alone still identifies the unchanged sections, and
// the others are returned in full.
//
// Ages, and the order of facts, do not count as differences. A fact that is currently unknown,
// because a service does not answer, is reported once and compared with its earlier value when it
// is known again.
package since

import (
	"github.com/copse-dev/copse/internal/foreign"
	"github.com/copse-dev/copse/internal/workflow/projectcontext"
	"github.com/copse-dev/copse/internal/workflow/projectcontext/wording"
)

// Changes are the differences between a context and an earlier one.
type Changes struct {
	// Token is the token of the current context.
	Token Token
	// Sections are the changed ones. Their lines begin with "new:", "now:", or "gone:", except in a
	// section that is returned in full.
	Sections []wording.Changed
	// Unchanged are the names of the others.
	Unchanged []string
	// Forgotten means that the earlier answer is not stored, so changed sections are returned in
	// full.
	Forgotten bool
	// Elsewhere is the root of the worktree of the earlier answer, if that is another one.
	Elsewhere string
}

// Remember stores a context, and returns its token. A failure to store it costs only the detail of
// a later comparison.
func (m *Memory) Remember(c projectcontext.Context) Token {
	s := snapshot{Root: m.clean(c.Root), Repository: m.clean(m.repository)}
	for _, one := range c.Sections {
		s.Sections = append(s.Sections, presentOf(one, m.clean).section)
	}
	return m.keep(s)
}

// Compare returns the differences between a context and an earlier answer, and stores it.
func (m *Memory) Compare(c projectcontext.Context, earlier Token) Changes {
	before := m.recall(earlier)
	now := snapshot{Root: m.clean(c.Root), Repository: m.clean(m.repository)}
	out := Changes{Forgotten: before == nil}
	if before != nil && before.Root != now.Root {
		out.Elsewhere = before.Root
	}
	for _, one := range c.Sections {
		p := presentOf(one, m.clean)
		was := before.section(one.Name)
		if was != nil {
			p.withoutPartial()
		}
		kept := p.remembering(was)
		now.Sections = append(now.Sections, kept)
		if sum, covered := earlier.sums[one.Name]; covered && sum == kept.checksum(now.Root) {
			out.Unchanged = append(out.Unchanged, one.Name)
			continue
		}
		var lines []foreign.Line
		if was == nil {
			lines = p.full(c)
		} else if lines = p.changed(*was); len(lines) == 0 {
			out.Unchanged = append(out.Unchanged, one.Name)
			continue
		}
		changed := wording.Changed{Name: one.Name, Title: one.Title, Lines: lines}
		if _, task := one.Content.(projectcontext.LastTask); task {
			// The verdict comes first, and the end of the task's output is the most informative.
			changed.Head, changed.Lines, changed.KeepEnd = lines[:1], lines[1:], true
		}
		out.Sections = append(out.Sections, changed)
	}
	out.Token = m.keep(now)
	return out
}

// changed returns the differences in a section that was sent before.
func (p present) changed(was section) []foreign.Line {
	var lines []foreign.Line
	if p.Unknown != was.Unknown {
		if p.Unknown != "" {
			lines = append(lines, foreign.Own("now unknown: ").Prose(p.Unknown))
		} else {
			lines = append(lines, foreign.Own("known again"))
		}
	}
	if p.Empty != "" {
		if p.Empty != was.Empty {
			lines = append(lines, foreign.Own("now empty: ").Prose(p.Empty))
		}
		return lines
	}
	return append(lines, compare(was, p).lines(p)...)
}

// full returns a section in full.
func (p present) full(c projectcontext.Context) []foreign.Line {
	lines := wording.Lines(p.from.Content, c.At)
	if p.Empty != "" {
		lines = append(lines, foreign.Own("empty: ").Prose(p.Empty))
	}
	if p.Unknown != "" {
		lines = append(lines, foreign.Own("now unknown: ").Prose(p.Unknown))
	}
	return lines
}

// Markdown returns a whole context as Markdown of at most maxTokens tokens, with its token.
func Markdown(c projectcontext.Context, t Token, maxTokens int) string {
	return wording.Markdown(c, maxTokens, t.line())
}

// Markdown returns the changes as Markdown of at most maxTokens tokens, with the token.
func (c Changes) Markdown(maxTokens int) string {
	var last []foreign.Line
	if c.Elsewhere != "" {
		last = append(last, foreign.Own("The earlier answer was about another worktree: ").Name(c.Elsewhere).Own("."))
	}
	switch {
	case len(c.Sections) == 0:
		last = append(last, foreign.Own("Nothing has changed."))
	case c.Forgotten:
		last = append(last, foreign.Own("These sections are in full, because copse no longer has the earlier answer."))
	}
	if len(c.Sections) > 0 && len(c.Unchanged) > 0 {
		var names []foreign.Line
		for _, name := range c.Unchanged {
			names = append(names, foreign.Own("").Word(name))
		}
		last = append(last, foreign.Own("Unchanged: ").Add(foreign.Join(names, ", ")).Own("."))
	}
	return wording.Changes(c.Sections, maxTokens, append(last, c.Token.line())...)
}

// line explains the token to a reader.
func (t Token) line() foreign.Line {
	return foreign.Own("Later, since=\"").Word(t.String()).Own("\" returns only what changed.")
}

// commits is the number of commits that are read to find those since an earlier answer.
const commits = 20

// Request returns a request for sections that can be compared with an earlier answer: its sections,
// unless r names others.
func Request(r projectcontext.Request, earlier Token) projectcontext.Request {
	if len(r.Sections) == 0 {
		r.Sections = earlier.Sections()
	}
	r.Commits = commits
	return r
}
