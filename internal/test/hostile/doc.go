// Package hostile tries every way in against every repository that could be hostile.
//
// A [vector] is one thing that a repository's files or configuration can say to make a
// program run, a connection open or code load: a git filter, a justfile with backticks, a
// client configuration that names a program. Each vector plants a canary: a file that the
// program creates, or a listener that counts connections. The entry points are every
// command, tool, resource, prompt, completion and route, taken from the programs
// themselves. No entry point may wake any canary.
//
// A table that names nothing live proves nothing, so a control shows for each vector that
// plain git or just does run the program, or the vector says why it is dormant here. An
// entry point without arguments in the tables fails the test, and in a repository that is
// not hostile every entry point must do its work.
package hostile
