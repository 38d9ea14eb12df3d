// Command copse: see package copse.
package main

import (
	"os"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/cli/copse"
)

func main() { os.Exit(app.Main(copse.Run)) }
