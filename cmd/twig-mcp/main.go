// Command twig-mcp: see package twigmcp.
package main

import (
	"os"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/cli/twigmcp"
)

func main() { os.Exit(app.Main(twigmcp.Run)) }
