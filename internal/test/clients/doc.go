// Package clients holds the tests in which clients that others wrote talk to our programs: the
// official inspector and the TypeScript SDK, in both protocol eras, and five assistants, which
// run with a model of ours. "npm ci" in this directory installs the clients, and "npm install"
// in the one beside it the assistants; without them the tests are skipped.
package clients
