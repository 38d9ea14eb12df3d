// Package twig reads .twig/state.json, the file in which the program twig keeps
// what it knows about the branches of a repository. It never writes it.
//
// [Store] is the state of a worktree, read afresh when the file changed;
// [Parse] reads the content of a file; [State] has the lookups, all of them
// indexed.
//
// The format is twig's (github.com/eddieland/twig, 2025 to 2026, format version
// 1): an object with the members version, updated_at, worktrees, branches,
// dependencies and root_branches, all required. Parse checks structure as twig
// does and says which member is wrong. It is laxer in two things: ids and times
// may be any strings, and of a repeated member the last counts.
package twig
