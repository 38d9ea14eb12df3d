// Package growth tests what the largest legal files of a stranger cost, each in two sizes.
//
// Package bombs tests files that never end. Its measurements of a child process include the memory of the
// process that starts it, so these tests, which use much, are in a package of their own.
package growth
