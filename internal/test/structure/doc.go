// Package structure tests from outside that text of strangers stays text in every
// Markdown answer.
//
// A fixture fills everything that a stranger can write with the same text: names of branches,
// files, worktrees, and containers, commits, justfiles, work items, answers of GitHub and Jira,
// registries, logs, what a task prints. The tests read each Markdown answer, prompt, and resource
// of a real server once with harmless text and once with hostile text. The structure that a
// Markdown parser sees must be the same, and so must the lines of a reader who knows nothing of
// Markdown.
package structure
