package uncommitted

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/git/porcelain"
	"github.com/copse-dev/copse/internal/git/trial"
)

// lineEnds adds the line-ending rules of changed files from attributes, so that a file that git
// would commit with other line endings is not a conflict as a whole. It runs git only if a worktree
// has attributes and changes; git runs no filter for the answer.
func lineEnds(ctx context.Context, repo *git.Repo, edits *git.Edits) error {
	if len(edits.Files) == 0 || !hasAttributes(ctx, repo) {
		return nil
	}
	var names strings.Builder
	at := make(map[string]int, len(edits.Files))
	for i, e := range edits.Files {
		names.WriteString(e.Path + "\x00")
		at[e.Path] = i
	}
	out, err := repo.Program().Feed(ctx, []byte(names.String()), "check-attr", "-z", "--stdin", "text", "eol")
	if err != nil {
		return err
	}
	// For each file and attribute: path, attribute, value.
	fields := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	for entry := range slices.Chunk(fields, 3) {
		if len(entry) < 3 {
			break
		}
		i, known := at[entry[0]]
		if !known {
			continue
		}
		e := &edits.Files[i]
		switch attribute, value := entry[1], entry[2]; {
		case attribute == "text" && value == "unset":
			e.LineEnds = porcelain.AsTheyAre
		case attribute == "text" && (value == "set" || value == "auto"),
			attribute == "eol" && (value == "lf" || value == "crlf") && e.LineEnds == "":
			e.LineEnds = porcelain.Converted
		}
	}
	return nil
}

// hasAttributes reports whether a worktree has a file of attributes.
func hasAttributes(ctx context.Context, repo *git.Repo) bool {
	tracked, err := repo.Tracked(ctx)
	if err != nil {
		return true // git knows
	}
	return slices.ContainsFunc(tracked.All(), func(name string) bool { return path.Base(name) == trial.AttributesFile })
}
