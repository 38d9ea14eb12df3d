// Command changelog writes CHANGELOG.md from the fragments in changes/unreleased.
//
//	go run ./packaging/changelog                    collect the fragments under "Unreleased"
//	go run ./packaging/changelog -release v1.2.3    move them to the section of a release
//	go run ./packaging/changelog -notes v1.2.3      print the section of a release
//
// The sections of earlier releases stay as they are.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

func main() {
	release := flag.String("release", "", "make a release of this `version`")
	notes := flag.String("notes", "", "print the section of this `version`")
	flag.Parse()
	var err error
	switch today := time.Now().Format(time.DateOnly); {
	case *notes != "":
		err = printNotes(os.Stdout, ".", *notes)
	case *release != "":
		err = makeRelease(".", *release, today)
	default:
		err = collect(".", "Unreleased")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "changelog:", err)
		os.Exit(1)
	}
}

const preface = `# Changelog

Generated from [the fragments of changes](changes/README.md) by ` + "`go run ./packaging/changelog`" + `; do not edit.
Versions follow [semantic versioning](https://semver.org).
`

// kinds are the kinds of changes, in the order in which a section lists them.
var kinds = []string{"Added", "Security", "Changed", "Fixed", "Removed"}

// areas are the parts of copse, in the order in which a section lists them. Fragments without an
// area come first.
var areas = []string{
	"", "branches and stacks", "conflicts and worktrees", "pull requests and issues", "work items",
	"context and search", "files and tasks", "prompts", "the page", "clients", "servers",
	"the command line", "packages and documents", "speed", "limits",
}

// change is a fragment.
type change struct {
	kind, area, text, details string
}

var form = regexp.MustCompile(`\A(Added|Security|Changed|Fixed|Removed)(?: \(([a-z ]+)\))?: ([^\n]+)\n(?:\n([^\n](?s:.*))?)?\z`)

// read returns the fragments of a directory, by the names of their files without the extension.
func read(dir string) (changes []change, files []string, err error) {
	files, err = filepath.Glob(filepath.Join(dir, "changes", "unreleased", "*.md"))
	if err != nil {
		return nil, nil, err
	}
	slices.SortFunc(files, func(a, b string) int {
		return strings.Compare(strings.TrimSuffix(a, ".md"), strings.TrimSuffix(b, ".md"))
	})
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, nil, err
		}
		m := form.FindStringSubmatch(string(text))
		if m == nil {
			return nil, nil, fmt.Errorf("%s: the first line must be a kind, an optional area in parentheses, a colon, and one sentence; the kinds are %s; details follow an empty line", file, strings.Join(kinds, ", "))
		}
		if !slices.Contains(areas, m[2]) {
			return nil, nil, fmt.Errorf("%s: there is no area %q; the areas are %s", file, m[2], strings.Join(areas[1:], ", "))
		}
		// Links lead from the fragment; the page is two directories above.
		up := strings.NewReplacer("](../../", "](")
		changes = append(changes, change{m[1], m[2], up.Replace(m[3]), up.Replace(strings.TrimSpace(m[4]))})
	}
	return changes, files, nil
}

// section returns a section of the changelog.
func section(title string, changes []change) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n## %s\n", title)
	if len(changes) == 0 {
		b.WriteString("\nNo changes yet.\n")
	}
	for _, kind := range kinds {
		of := slices.DeleteFunc(slices.Clone(changes), func(c change) bool { return c.kind != kind })
		if len(of) > 0 {
			fmt.Fprintf(&b, "\n### %s\n\n", kind)
		}
		for _, area := range areas {
			in := slices.DeleteFunc(slices.Clone(of), func(c change) bool { return c.area != area })
			if len(in) > 0 && area != "" {
				fmt.Fprintf(&b, "\n#### %s\n\n", sentence(area))
			}
			for _, c := range in {
				c.write(&b)
			}
		}
	}
	return strings.TrimRight(strings.ReplaceAll(b.String(), "\n\n\n", "\n\n"), "\n") + "\n"
}

// write adds the change to a section.
func (c change) write(b *strings.Builder) {
	fmt.Fprintf(b, "- %s\n", sentence(c.text))
	if c.details == "" {
		return
	}
	b.WriteString("\n")
	for line := range strings.Lines(c.details) {
		b.WriteString(strings.TrimRight("  "+line, " \n") + "\n")
	}
	b.WriteString("\n")
}

var heading = regexp.MustCompile(`(?m)^## .*$`)

// released returns the sections of earlier releases, from an empty line on.
func released(dir string) (string, error) {
	text, err := os.ReadFile(filepath.Join(dir, "CHANGELOG.md"))
	if errors.Is(err, os.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	for _, at := range heading.FindAllIndex(text, -1) {
		if string(text[at[0]:at[1]]) != "## Unreleased" {
			return "\n" + string(text[at[0]:]), nil
		}
	}
	return "", nil
}

// page returns the changelog of a directory, with the fragments under a title.
func page(dir, title string) (text string, files []string, err error) {
	changes, files, err := read(dir)
	if err != nil {
		return "", nil, err
	}
	old, err := released(dir)
	if err != nil {
		return "", nil, err
	}
	return preface + section(title, changes) + old, files, nil
}

// collect writes the changelog of a directory.
func collect(dir, title string) error {
	text, _, err := page(dir, title)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "CHANGELOG.md"), []byte(text), 0o644)
}

var version = regexp.MustCompile(`^v[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$`)

// makeRelease moves the fragments to the section of a release.
func makeRelease(dir, release, date string) error {
	if !version.MatchString(release) {
		return fmt.Errorf("invalid version %q: use one such as v1.2.3", release)
	}
	text, files, err := page(dir, release+", "+date)
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return errors.New("there is nothing to release: changes/unreleased has no fragments")
	}
	if err := os.WriteFile(filepath.Join(dir, "CHANGELOG.md"), []byte(text), 0o644); err != nil {
		return err
	}
	var errs []error
	for _, file := range files {
		errs = append(errs, os.Remove(file))
	}
	return errors.Join(errs...)
}

// printNotes writes the section of a release without its heading.
func printNotes(w io.Writer, dir, release string) error {
	text, err := os.ReadFile(filepath.Join(dir, "CHANGELOG.md"))
	if err != nil {
		return err
	}
	all := heading.FindAllIndex(text, -1)
	i := slices.IndexFunc(all, func(at []int) bool {
		return strings.HasPrefix(string(text[at[0]:at[1]]), "## "+release+", ")
	})
	if i < 0 {
		return fmt.Errorf("CHANGELOG.md has no section for %s", release)
	}
	end := len(text)
	if i+1 < len(all) {
		end = all[i+1][0]
	}
	_, err = fmt.Fprintln(w, strings.TrimSpace(string(text[all[i][1]:end])))
	return err
}

// sentence returns a text with a capital, unless it begins with the name of a program.
func sentence(text string) string {
	if strings.HasPrefix(text, "copse ") || strings.HasPrefix(text, "copse's ") {
		return text
	}
	return strings.ToUpper(text[:1]) + text[1:]
}
