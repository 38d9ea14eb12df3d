// Command copse: see package copse.
package main

import (
	"os"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/cli/copse"
	"github.com/copse-dev/copse/internal/xec/guard"
)

func main() {
	guard.Main()
	os.Exit(app.Main(copse.Run))
}
