// Package clients holds the tests in which clients that others wrote talk to
// our programs: the official inspector and the TypeScript SDK, in both protocol
// eras. They are installed by "npm ci" in this folder, and the hosts by "npm install" in the one beside it; without them the tests
// are skipped.
package clients
