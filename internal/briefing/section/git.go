package section

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/copse-dev/copse/internal/briefing"
	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/fact"
	"github.com/copse-dev/copse/internal/git"
)

// Git tells which files are changed, and by how much.
func Git(files *Worktree) briefing.Source {
	return source("git", "Changes", func(ctx context.Context) (briefing.Body, error) {
		repo, err := files.Find.repo(ctx)
		if err != nil {
			return briefing.Body{}, err
		}
		var (
			status  git.Status
			changes []git.Change
			stat    map[string]git.LineCount
		)
		both, asking := errgroup.WithContext(ctx)
		both.Go(func() (err error) {
			status, changes, err = files.look(asking)
			return err
		})
		both.Go(func() (err error) {
			stat, err = repo.DiffStat(asking)
			return err
		})
		err = both.Wait()
		switch {
		case errors.Is(err, git.ErrBare):
			return briefing.Body{}, &briefing.Nothing{Why: "a bare repository"}
		case err != nil:
			return briefing.Body{}, err
		case len(changes) == 0:
			return briefing.Body{}, &briefing.Nothing{Why: "no changes"}
		}
		body := briefing.Body{Head: []string{counts(status) + lines(stat)}}
		for _, c := range changes {
			body.Lines = append(body.Lines, changed(c, stat))
		}
		return body, nil
	})
}

// counts is a line of what there is how often.
func counts(st git.Status) string {
	var parts []string
	for _, c := range []struct {
		n    int
		what string
	}{{st.Conflicted, "in conflict"}, {st.Staged, "staged"}, {st.Modified, "modified"}, {st.Untracked, "untracked"}} {
		if c.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", c.n, c.what))
		}
	}
	return strings.Join(parts, ", ")
}

func lines(stat map[string]git.LineCount) string {
	var all git.LineCount
	for _, one := range stat {
		all.Added, all.Deleted = all.Added+one.Added, all.Deleted+one.Deleted
	}
	if len(stat) == 0 {
		return ""
	}
	return fmt.Sprintf("; +%d -%d lines", all.Added, all.Deleted)
}

func changed(c git.Change, stat map[string]git.LineCount) string {
	text := c.Code + " " + cleantext.Line(c.Path)
	if c.From != "" {
		text += " (was " + cleantext.Line(c.From) + ")"
	}
	if n, ok := stat[c.Path]; ok {
		text += fmt.Sprintf(" +%d -%d", n.Added, n.Deleted)
	}
	return text
}

const (
	// maxCommits is how many of the last commits are shown, maxNames how many
	// characters the names of their files take.
	maxCommits = 5
	maxNames   = 160
)

// Recent tells what the last commits changed.
func Recent(find FindRepo, now func() time.Time) briefing.Source {
	return source("recent", "Recently changed", func(ctx context.Context) (briefing.Body, error) {
		repo, err := find.repo(ctx)
		if err != nil {
			return briefing.Body{}, err
		}
		commits, err := repo.Log(ctx, maxCommits)
		if err != nil {
			return briefing.Body{}, err
		}
		if len(commits) == 0 {
			return briefing.Body{}, &briefing.Nothing{Why: "no commits"}
		}
		var body briefing.Body
		for _, c := range commits {
			body.Lines = append(body.Lines, fmt.Sprintf("%s %s (%s)", c.Hash, cleantext.Cut(cleantext.Line(c.Subject), 100), fact.Age(c.When, now())))
			if len(c.Files) == 0 {
				continue
			}
			text := "  " + enumerate(c.Files, ", ", maxNames)
			body.Lines = append(body.Lines, text)
		}
		return body, nil
	})
}

// enumerate joins names, as many as go into so many characters, and says how many more
// there are.
func enumerate(names []string, separator string, room int) string {
	var shown []string
	for _, name := range names {
		name = cleantext.Line(name)
		if room -= len([]rune(name)) + len(separator); room < 0 && len(shown) > 0 {
			return fmt.Sprintf("%s … and %d more", strings.Join(shown, separator), len(names)-len(shown))
		}
		shown = append(shown, name)
	}
	return strings.Join(shown, separator)
}
