// Command tic: see package tic.
package main

import (
	"os"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/cli/tic"
)

func main() { os.Exit(app.Main(tic.Run)) }
