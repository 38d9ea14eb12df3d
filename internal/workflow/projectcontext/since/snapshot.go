package since

import (
	"cmp"
	"encoding/base64"
	"slices"
	"strings"

	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/foreign"
	"github.com/copse-dev/copse/internal/workflow/projectcontext"
	"github.com/copse-dev/copse/internal/workflow/projectcontext/wording"
)

// snapshot is the stored form of an answer.
type snapshot struct {
	Root string `json:"root"`
	// Repository is what the worktrees of a repository have in common.
	Repository string    `json:"repository,omitempty"`
	Sections   []section `json:"sections"`
}

// section is one section of a snapshot.
type section struct {
	Name string `json:"name"`
	// Empty is the reason for an empty section, Unknown the reason for missing data.
	Empty   string `json:"empty,omitempty"`
	Unknown string `json:"unknown,omitempty"`
	// Cut means that more facts followed the last one.
	Cut   bool       `json:"cut,omitempty"`
	Facts []recorded `json:"facts"`
}

// recorded is a fact of an earlier answer.
type recorded struct {
	Key string `json:"key"`
	// Sum identifies what was said.
	Sum string `json:"sum"`
	// Text is the name of the fact when it no longer holds.
	Text string `json:"text"`
}

const (
	// maxFacts is the maximum number of compared facts of a section.
	maxFacts = 1000
	// maxText is the maximum number of stored characters of a fact.
	maxText = 120
)

// present is the current section, with the lines to show.
type present struct {
	section
	from  projectcontext.Section
	lines map[string]wording.Fact // by key
	// unknown are keys of currently unknown facts.
	unknown []string
}

// presentOf returns a section to compare. clean returns a text as it may be kept.
func presentOf(s projectcontext.Section, clean func(string) string) present {
	p := present{
		section: section{Name: s.Name, Empty: clean(s.Empty), Unknown: clean(s.Unavailable), Facts: []recorded{}},
		from:    s, lines: make(map[string]wording.Fact),
	}
	facts, cut := wording.Facts(s.Content)
	p.Cut = cut
	for _, f := range facts {
		key := clean(f.Key)
		if _, double := p.lines[key]; double {
			continue
		}
		if f.Unknown {
			p.unknown = append(p.unknown, key)
			continue
		}
		if len(p.Facts) == maxFacts {
			p.Cut = true
			break
		}
		p.lines[key] = f
		text := clean(f.Line.Plain())
		sum := sumOf(text, f.Stamp, clean(foreign.Markdown(f.More)))
		p.Facts = append(p.Facts, recorded{Key: key, Sum: base64.RawStdEncoding.EncodeToString(sum[:9]), Text: cleantext.Cut(clean(cmp.Or(f.Label, text)), maxText)})
	}
	return p
}

// checksum identifies what a section tells about the worktree at root.
func (s section) checksum(root string) checksum {
	parts := []string{root, s.Empty, s.Unknown}
	if s.Cut {
		parts = append(parts, "cut")
	}
	for _, f := range s.Facts {
		parts = append(parts, f.Key, f.Sum)
	}
	sum := sumOf(parts...)
	return checksum(sum[:])
}

// token returns the token of a snapshot.
func (s snapshot) token() Token {
	t := Token{sums: make(map[string]checksum)}
	for _, one := range s.Sections {
		t.sums[one.Name] = one.checksum(s.Root)
	}
	return t
}

// withoutPartial makes the facts of which only a part is known unknown: a fact that has changed is
// reported when all of it is known.
func (p *present) withoutPartial() {
	p.Facts = slices.DeleteFunc(p.Facts, func(f recorded) bool {
		if !p.lines[f.Key].Partial {
			return false
		}
		p.unknown = append(p.unknown, f.Key)
		return true
	})
}

// section returns the section of a name, nil if there is none.
func (s *snapshot) section(name string) *section {
	if s == nil {
		return nil
	}
	for i := range s.Sections {
		if s.Sections[i].Name == name {
			return &s.Sections[i]
		}
	}
	return nil
}

// remembering returns the section in its form for storing: facts that are unknown now keep their
// earlier value, so that they are compared when they are known again.
func (p present) remembering(before *section) section {
	out := p.section
	if before == nil {
		return out
	}
	have := make(map[string]bool, len(out.Facts))
	for _, f := range out.Facts {
		have[f.Key] = true
	}
	for _, f := range before.Facts {
		if !have[f.Key] && p.hides(f.Key) {
			out.Facts = append(out.Facts, f)
		}
	}
	return out
}

// hides reports whether it is unknown whether a fact still holds.
func (p present) hides(key string) bool {
	if p.Unknown != "" {
		return true
	}
	for _, u := range p.unknown {
		if key == u || strings.HasPrefix(key, u+" ") {
			return true
		}
	}
	return false
}
