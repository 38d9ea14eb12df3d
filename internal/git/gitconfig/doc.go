// Package gitconfig reads git's configuration as git does, without running it.
//
// [Parse] reads the text of one file. [Load] reads the files of a repository
// in git's order and follows include.path and includeIf; [Sources] says which
// files those are. A [Config] is the list of everything that was set, in the
// order in which git sees it; a later value wins over an earlier one.
//
// What cannot be decided here (an includeIf that asks for remotes, a condition
// newer than this package) is [ErrNeedsGit]: the caller asks the git program
// and reads its answer with [ParseList].
//
// The format is documented in git-config(1); where the manual is silent the
// behavior of git 2.47 was followed, and a test holds the two against each
// other.
package gitconfig
