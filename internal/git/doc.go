// Package git reads git repositories. It never writes to one and takes no lock
// in one.
//
// [Discover] finds the repository a directory belongs to; a [Repo] answers
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
// Nothing in a repository decides what is run or where the root is. On the way
// up only a .git counts; a bare repository only where the user named it; another
// worktree only if its own .git leads back. The git program is run with a limit of
// time, output and memory, without optional locks, prompts, network or fetching,
// and without the hooks, monitors, filters, drivers and other programs that the
// repository's own configuration names; those of the user's configuration stay. It
// is not started if it would wait for a named pipe, or read a device or a file of
// absurd size. It does not look into submodules.
//
// Git's environment variables are ignored throughout (GIT_DIR and its like, which
// git sets for the hooks it runs, among them), but for those that say where the
// user's configuration and git's own programs are.
//
// Names and URLs are given as they are stored. A name of a branch may hold any
// byte but the few git forbids, and a URL may hold a password.
//
// Subpackages: gitconfig reads configuration, refstore reads refs, index reads
// which files are tracked, program runs git, override says which settings it is
// run with, hazard finds what it would wait for, history tells how branches grew,
// gittest runs git for tests.
package git
