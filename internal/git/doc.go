// Package git reads git repositories. It never writes to one and takes no lock
// in one.
//
// [Discover] finds the repository a folder belongs to; a [Repo] answers
// questions about it. What is asked often is read from the files, without a
// subprocess: HEAD, branches, the URL of a remote, the default branch. What
// only git itself can tell is asked of the git program: the list of worktrees,
// the status, refs in the reftable format, and configuration that depends on
// the remotes. There the program must be installed, else errors wrap
// [xec.ErrNotInstalled].
//
// Every method reads what is on disk at the time of the call; nothing is kept
// but what is proved to be unchanged. All methods are safe for concurrent use.
// If the repository is deleted while a Repo is in use, its methods return
// [ErrNotRepository].
//
// The environment variables that point git to another repository (GIT_DIR and
// its like, which git sets for the hooks it runs) are ignored throughout; those
// that point to other configuration are honoured. The git program is run with
// a time limit, without optional locks, prompts, pager, network fetches of
// missing objects, or the file system monitor that the configuration names.
//
// Names and URLs are given as they are stored. A name of a branch may hold any
// byte but the few git forbids, and a URL may hold a password.
//
// Subpackages: gitconfig reads configuration, refstore reads refs, gittest
// runs git for tests.
package git
