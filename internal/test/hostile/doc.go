// Package hostile tries every entry point in every kind of hostile repository.
//
// A [vector] is one way in which a repository's files or configuration can make a program run, a
// connection open, or code load: a git filter, a justfile with backticks, a client configuration
// that names a program. Each vector plants a canary: a file that the program creates, or a listener
// that counts connections. The entry points are every command, tool, resource, prompt, completion,
// and route, taken from the programs themselves. No entry point may trigger any canary.
//
// A table of harmless vectors proves nothing. For each vector, a control therefore shows that plain
// git or just does run the program, or the vector states why it is dormant here. An entry point
// without arguments in the tables fails the test, and in a harmless repository, every entry point
// must work.
package hostile
