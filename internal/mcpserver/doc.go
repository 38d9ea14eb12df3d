// Package mcpserver turns toolsets into an MCP server, and serves it.
//
// It is the only package that knows the wire: it alone imports the protocol
// library, and one file shapes results. [New] assembles a server,
// [Server.ServeStdio] answers one client on a pair of streams, in both
// protocol eras (2026-07-28, and the initialize handshake back to
// 2024-11-05).
//
// What it guarantees: the lists are static and sorted; capabilities are what
// is really there; a panic in a handler becomes an error result and a log line;
// a line that is not JSON-RPC is answered with an error and the connection
// lives on; requests run concurrently; when the input ends, calls that are
// still running get half a second to answer and are cancelled then.
package mcpserver
