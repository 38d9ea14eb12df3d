// Package toolset describes a server's features as values: tools with typed inputs and outputs,
// prompts, and resources, grouped into toolsets that are served or omitted as a whole.
//
// It does not depend on the wire format: package mcpserver turns these values into a server, and is
// the only user of the protocol library. A seventh toolset is one new package that returns a
// [Toolset], and one line of wiring.
//
// Use [New] for a tool. It derives the input schema from the In type, checks the arguments (unknown
// ones, missing ones, wrong types, enums, ranges) before the handler runs, and gives results and
// errors the toolset's [Shape], with the same facts in both halves of a result. A handler is a
// plain function of a context and an In; tests call it directly.
package toolset
