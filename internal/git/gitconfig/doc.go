// Package gitconfig reads git's configuration as git does, without running it.
//
// [Parse] reads the text of one file. [Load] reads the files of a repository in git's order and
// follows include.path and includeIf; [Sources] lists those files. A [Config] is the list of all
// settings, in the order in which git sees them; a later value takes precedence over an earlier
// one.
//
// If this package cannot decide (an includeIf that depends on remotes, a condition newer than this
// package), the error is [ErrNeedsGit]: the caller runs the git program and reads its answer with
// [ParseList].
//
// git-config(1) documents the format; where the manual is silent, this package follows the behavior
// of git 2.47, and a test compares the two.
package gitconfig
