package mcpserver

import "github.com/modelcontextprotocol/go-sdk/mcp"

// Library is the library's server, to which a test adds what no toolset has.
func (s *Server) Library() *mcp.Server { return s.mcp }
