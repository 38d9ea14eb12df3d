package section

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/copse-dev/copse/internal/briefing"
	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/fact"
	"github.com/copse-dev/copse/internal/foreign"
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
		body := briefing.Body{Head: []foreign.Line{counts(status).Add(lines(stat))}}
		for _, c := range changes {
			body.Lines = append(body.Lines, changed(c, stat))
		}
		return body, nil
	})
}

// counts is a line of what there is how often.
func counts(st git.Status) foreign.Line {
	var parts []foreign.Line
	for _, c := range []struct {
		n    int
		what foreign.Line
	}{
		{st.Conflicted, foreign.Own(" in conflict")}, {st.Staged, foreign.Own(" staged")},
		{st.Modified, foreign.Own(" modified")}, {st.Untracked, foreign.Own(" untracked")},
	} {
		if c.n > 0 {
			parts = append(parts, foreign.Line{}.Int(c.n).Add(c.what))
		}
	}
	return foreign.Join(parts, ", ")
}

func lines(stat map[string]git.LineCount) foreign.Line {
	var all git.LineCount
	for _, one := range stat {
		all.Added, all.Deleted = all.Added+one.Added, all.Deleted+one.Deleted
	}
	if len(stat) == 0 {
		return foreign.Line{}
	}
	return foreign.Own(";").Add(lineCount(all)).Own(" lines")
}

func lineCount(n git.LineCount) foreign.Line {
	return foreign.Own(" +").Int(n.Added).Own(" -").Int(n.Deleted)
}

func changed(c git.Change, stat map[string]git.LineCount) foreign.Line {
	text := foreign.Line{}.Word(c.Code).Own(" ").Name(c.Path)
	if c.From != "" {
		text = text.Own(" (was ").Name(c.From).Own(")")
	}
	if n, ok := stat[c.Path]; ok {
		text = text.Add(lineCount(n))
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
			body.Lines = append(body.Lines, foreign.Name(c.Hash).Own(" ").Name(cleantext.Cut(c.Subject, 100)).Own(" (").Word(fact.Age(c.When, now())).Own(")"))
			if len(c.Files) > 0 {
				body.Lines = append(body.Lines, foreign.Own("  ").Add(enumerate(c.Files, foreign.Own(", "), maxNames)))
			}
		}
		return body, nil
	})
}

// enumerate joins names, as many as go into so many characters, and says how many more
// there are.
func enumerate(names []string, separator foreign.Line, room int) foreign.Line {
	var shown foreign.Line
	for i, name := range names {
		room -= len([]rune(foreign.Spell(name))) + len(separator.Plain())
		if i > 0 {
			if room < 0 {
				return shown.Own(" … and ").Int(len(names) - i).Own(" more")
			}
			shown = shown.Add(separator)
		}
		shown = shown.Name(name)
	}
	return shown
}
