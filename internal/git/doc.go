// Package git reads git repositories. It never writes to one and takes no lock in one.
//
// [Discover] finds the repository of a directory; a [Repo] answers questions about it. Frequent
// questions are answered from the files, without a subprocess: HEAD, branches, the URL of a remote,
// the default branch. Questions that only git can answer go to the git program: the list of
// worktrees, the status, refs in the reftable format, and configuration that depends on the
// remotes. For these, the program must be installed; otherwise, errors wrap [xec.ErrNotInstalled].
//
// Every method reads the state on disk at the time of the call; only data that is proved to be
// unchanged is cached. All methods are safe for concurrent use. If the repository is deleted while
// a Repo is in use, its methods return [ErrNotRepository].
//
// Nothing in a repository decides what runs or where the root is. On the way up, the search accepts
// only a .git; a bare repository only if the user named it; and another worktree only if its own
// .git points back. The git program runs with a limit of time, output, and memory, without optional
// locks, prompts, network, or fetching, and without the hooks, monitors, filters, drivers, and
// other programs that the repository's own configuration names; those of the user's configuration
// stay. It does not start if it would wait for a named pipe, or read a device or a file of absurd
// size. It does not enter submodules.
//
// Git's environment variables are ignored (including GIT_DIR and similar ones, which git sets for
// its hooks), except for those that locate the user's configuration and git's own programs.
//
// Names and URLs are returned as stored. The name of a branch may contain any byte except the few
// that git forbids, and a URL may contain a password.
//
// Subpackages: discovery finds a repository, gitconfig reads configuration, refstore and reftable read
// refs, checkout lists the worktrees, index reads which files are tracked, program runs git, override computes its settings, hazard finds files that it would wait
// for, history reports how branches grew, gittest runs git for tests.
package git
