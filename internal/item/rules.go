package item

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/copse-dev/copse/internal/foreign"
)

// MaxText is how many bytes a description or the body of a comment can have.
const MaxText = 1 << 20

const (
	maxFields = 64 << 10 // bytes of all fields but the description, which each list of items needs
	// maxName is the size in bytes of the longest name of an iteration or an author, and
	// maxIterations the number of iterations that a project can have.
	maxName, maxIterations = 500, 2_000
	// maxDependencies is the number of items on which one can depend. Each of them is looked up.
	maxDependencies = 10_000
)

// Complete fills in the defaults of a draft, and checks everything but its relations.
func (c Config) Complete(d Draft) (Draft, error) {
	if d.Type == "" {
		d.Type = c.PreferredType()
	}
	if d.Status == "" && len(c.Statuses) > 0 {
		d.Status = c.Statuses[0]
	}
	if d.Priority == "" {
		d.Priority = defaultPriority
	}
	if d.Iteration == "" {
		d.Iteration = c.CurrentIteration
	}
	p, err := c.Check(Patch{
		Title:       &d.Title,
		Type:        &d.Type,
		Status:      &d.Status,
		Priority:    &d.Priority,
		Assignee:    &d.Assignee,
		Iteration:   &d.Iteration,
		Labels:      &d.Labels,
		Description: &d.Description,
		DependsOn:   &d.DependsOn,
	})
	if err != nil {
		return Draft{}, err
	}
	d.Labels, d.Description = *p.Labels, *p.Description
	return d, nil
}

// PreferredType returns the type of a new item for which nobody chose one.
func (c Config) PreferredType() string {
	const preferred = "task"
	if slices.Contains(c.Types, preferred) || len(c.Types) == 0 {
		return preferred
	}
	return c.Types[0]
}

// Check checks all of a patch but its relations, and returns the patch to store.
func (c Config) Check(p Patch) (Patch, error) {
	if p.Title != nil && strings.TrimSpace(*p.Title) == "" {
		return Patch{}, &InvalidError{Field: "title", Problem: "Title may not be empty"}
	}
	if p.Description != nil {
		p.Description = new(Text(*p.Description))
		if err := checkSize("description", *p.Description); err != nil {
			return Patch{}, err
		}
	}
	if err := p.checkTexts(); err != nil {
		return Patch{}, err
	}
	if p.DependsOn != nil && len(*p.DependsOn) > maxDependencies {
		return Patch{}, &InvalidError{Field: "depends_on", Problem: fmt.Sprintf("The item would depend on %d others, and %d are allowed", len(*p.DependsOn), maxDependencies)}
	}
	if p.Iteration != nil && *p.Iteration != "" {
		if err := c.CheckIteration(*p.Iteration); err != nil {
			return Patch{}, err
		}
	}
	p, err := p.checkLink()
	if err != nil {
		return Patch{}, err
	}
	for _, f := range []struct {
		name, plural string
		value        *string
		valid        []string
	}{
		{"type", "types", p.Type, c.Types},
		{"status", "statuses", p.Status, c.Statuses},
		{"priority", "priorities", p.Priority, Priorities()},
	} {
		if f.value != nil && !slices.Contains(f.valid, *f.value) {
			return Patch{}, &InvalidError{
				Field:   f.name,
				Problem: fmt.Sprintf("Invalid %s %q. Valid %s: %s", f.name, shorten(*f.value), f.plural, foreign.Mention(f.valid...)),
			}
		}
	}
	if p.Labels != nil {
		p.Labels = new(cleanLabels(*p.Labels))
	}
	return p, nil
}

// checkTexts refuses what no file could give back, and more than a reader of all items reads.
func (p Patch) checkTexts() error {
	fields := []struct {
		name  string
		value *string
	}{
		{"title", p.Title}, {"type", p.Type}, {"status", p.Status}, {"priority", p.Priority},
		{"assignee", p.Assignee}, {"iteration", p.Iteration}, {"description", p.Description},
	}
	size := 0
	for _, f := range fields {
		switch {
		case f.value == nil:
		case !utf8.ValidString(*f.value):
			return notUTF8(f.name)
		case f.value != p.Description:
			size += len(*f.value)
		}
	}
	if p.Labels != nil {
		for _, label := range *p.Labels {
			if !utf8.ValidString(label) {
				return notUTF8("labels")
			}
			size += len("  - \"\"\n") + len(label)
		}
	}
	if size > maxFields {
		return &InvalidError{Problem: fmt.Sprintf("The title, the labels, and the other fields have %d bytes, more than the %d (64 KiB) allowed", size, maxFields)}
	}
	return nil
}

func notUTF8(field string) error {
	return &InvalidError{Field: field, Problem: fmt.Sprintf("Invalid %s: it is not UTF-8 text", field)}
}

func checkSize(field, s string) error {
	if len(s) <= MaxText {
		return nil
	}
	return &InvalidError{
		Field:   field,
		Problem: fmt.Sprintf("The %s has %d bytes, more than the %d (1 MiB) allowed", field, len(s), MaxText),
	}
}

// CheckComment completes and checks a comment by an author, who may be empty.
func CheckComment(author, body string) (Comment, error) {
	if author == "" {
		author = Anonymous
	}
	c := Comment{Author: author, Body: Text(body)}
	switch {
	case c.Body == "":
		return Comment{}, &InvalidError{Field: "text", Problem: "Comment text may not be empty"}
	case !utf8.ValidString(c.Body):
		return Comment{}, notUTF8("text")
	case !utf8.ValidString(author):
		return Comment{}, notUTF8("author")
	}
	if err := checkName("author", author); err != nil {
		return Comment{}, err
	}
	return c, checkSize("comment", c.Body)
}

// CheckIteration checks the name of an iteration, which may be new. The limits keep the
// configuration, which holds all names, far from its own.
func (c Config) CheckIteration(name string) error {
	switch {
	case strings.TrimSpace(name) == "":
		return &InvalidError{Field: "name", Problem: "Iteration name may not be empty"}
	case !utf8.ValidString(name):
		return notUTF8("name")
	case slices.Contains(c.Iterations, name):
		return nil
	case len(c.Iterations) >= maxIterations:
		return &InvalidError{Field: "iteration", Problem: fmt.Sprintf("The project has %d iterations, and %d are allowed; use one of them, or remove old ones from its configuration", len(c.Iterations), maxIterations)}
	}
	return checkName("iteration", name)
}

// checkName refuses a long name of an iteration or an author.
func checkName(field, name string) error {
	if len(name) <= maxName {
		return nil
	}
	return &InvalidError{Field: field, Problem: fmt.Sprintf("The %s has %d bytes, more than the %d allowed", field, len(name), maxName)}
}

// Text returns what a description or the body of a comment keeps of s: all but empty lines at its
// beginning and white space at its end.
func Text(s string) string {
	const space = " \t\r\n\v\f"
	s = strings.TrimRight(s, space)
	margin := len(s) - len(strings.TrimLeft(s, space))
	return s[strings.LastIndexByte(s[:margin], '\n')+1:]
}

// SplitLabels reads labels that are written in one text, separated by commas.
func SplitLabels(s string) []string { return cleanLabels(strings.Split(s, ",")) }

// cleanLabels takes the margins off labels, and drops empty ones.
func cleanLabels(labels []string) []string {
	cleaned := make([]string, 0, len(labels))
	for _, label := range labels {
		if label = strings.TrimSpace(label); label != "" {
			cleaned = append(cleaned, label)
		}
	}
	return cleaned
}
