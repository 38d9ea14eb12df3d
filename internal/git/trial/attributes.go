package trial

import (
	"cmp"
	"context"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/regular"
	"github.com/copse-dev/copse/internal/rooted"
)

const (
	// maxLines is the maximum number of lines of attributes.
	maxLines = 2000
	// AttributesFile is the name of the files that [Attributes] reads.
	AttributesFile = ".gitattributes"
)

// builtin are the attributes that select one of git's own merge drivers. Any other value names a
// program.
var builtin = []string{"merge", "-merge", "!merge", "merge=text", "merge=binary", "merge=union", "binary"}

// Attributes returns the attributes that select one of git's own merge drivers, as one file for the
// whole repository. Files are the texts of attributes by their directory, "." for the root.
func Attributes(files map[string]string) string {
	var dirs []string
	for dir := range files {
		dirs = append(dirs, dir)
	}
	// Deeper files take precedence, so they come later.
	slices.SortFunc(dirs, func(a, b string) int {
		return cmp.Or(cmp.Compare(depth(a), depth(b)), strings.Compare(a, b))
	})
	var lines []string
	for _, dir := range dirs {
		for line := range strings.Lines(files[dir]) {
			if kept := attribute(dir, line); kept != "" && len(lines) < maxLines {
				lines = append(lines, kept)
			}
		}
	}
	if len(lines) == 0 {
		return ""
	}
	return strings.Join(lines, "\n") + "\n"
}

func depth(dir string) int {
	if dir == "." {
		return 0
	}
	return 1 + strings.Count(dir, "/")
}

// attribute returns the used part of a line, "" for nothing. Patterns in quotes are ignored.
func attribute(dir, line string) string {
	fields := strings.Fields(line)
	if len(fields) < 2 || strings.ContainsAny(fields[0][:1], `#"[!`) {
		return ""
	}
	var kept []string
	for _, a := range fields[1:] {
		switch {
		case slices.Contains(builtin, a):
			kept = append(kept, a)
		case strings.HasPrefix(a, "merge="):
			kept = append(kept, "merge") // the way without a driver
		}
	}
	if len(kept) == 0 {
		return ""
	}
	pattern := fields[0]
	switch {
	case dir == ".":
	case strings.ContainsAny(dir, " \t\"*?[\\"):
		return ""
	case strings.Contains(strings.TrimSuffix(pattern, "/"), "/"):
		pattern = path.Join("/", dir, pattern)
	default:
		pattern = "/" + dir + "/**/" + pattern
	}
	return pattern + " " + strings.Join(kept, " ")
}

const (
	// maxAttributes is the size of the largest file of attributes that counts, and maxAttributeFiles how
	// many files do.
	maxAttributes     = 256 << 10
	maxAttributeFiles = 100
)

// AttributesOf returns the attributes of a repository that say how git merges; see [Attributes].
func AttributesOf(ctx context.Context, repo *git.Repo) (string, error) {
	files := map[string]string{}
	if root := repo.Root(); root != "" {
		tracked, _ := repo.Tracked(ctx) // without it there are none
		for _, name := range tracked.All() {
			if path.Base(name) != AttributesFile || len(files) == maxAttributeFiles {
				continue
			}
			if text, err := rooted.Directory(root).Read(name, maxAttributes); err == nil {
				files[path.Dir(name)] = string(text)
			}
		}
	}
	own, _ := regular.Read(filepath.Join(repo.CommonDir(), "info", "attributes"), maxAttributes)
	return Attributes(files) + Attributes(map[string]string{".": string(own)}), ctx.Err()
}
