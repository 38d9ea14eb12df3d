// Package twig reads .twig/state.json, the file in which the program twig records the branches of a
// repository. It never writes it.
//
// [Store] is the state of a worktree, read again when the file changes; [Parse] reads the content
// of a file; [State] has the lookups, all of them indexed.
//
// The format is twig's (github.com/eddieland/twig, 2025 to 2026, format version 1): an object with
// the members version, updated_at, worktrees, branches, dependencies, and root_branches, all
// required. Parse checks the structure as twig does and names the wrong member. It is more tolerant
// in two respects: ids and times may be any strings, and of a repeated member the last one is used.
package twig
