// Command tic: see package tic.
package main

import (
	"os"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/cli/tic"
	"github.com/copse-dev/copse/internal/xec/guard"
)

func main() {
	guard.Main()
	os.Exit(app.Main(tic.Run))
}
