// Package clients contains the tests in which other authors' clients use our programs: the official
// inspector and the TypeScript SDK, in both protocol eras, and five assistants, which run with a
// fake model. "npm ci" in this directory installs the clients, and "npm install" in the directory
// next to it the assistants; without them, the tests are skipped.
package clients
