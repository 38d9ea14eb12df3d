// Package mcpserver turns toolsets into an MCP server, and serves it.
//
// It is the only package with knowledge of the wire format: only it imports the protocol library,
// and one file defines the form of results. [New] assembles a server, [Server.ServeStdio] answers
// one client on a pair of streams, in both protocol eras (2026-07-28, and the initialize handshake
// back to 2024-11-05).
//
// It guarantees that the lists are static and sorted; that capabilities match the features; that a
// panic in a handler becomes an error result and a log line; that a line that is not JSON-RPC gets
// an error, and the connection continues; and that requests run concurrently. When the input ends,
// calls that are still running get half a second to answer, and are then canceled.
package mcpserver
