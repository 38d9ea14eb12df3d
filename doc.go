// Package copse is the root of the module. It holds no code: the programs are in cmd, everything
// else in internal. Its tests cover the whole repository: the direction of dependencies, what
// twig-mcp may link, and the programs from end to end (testdata/script).
package copse
