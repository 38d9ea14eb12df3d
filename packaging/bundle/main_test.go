package main

import (
	"os"
	"testing"
)

// A release needs no C compiler, and neither do the programs that make it. The race detector does:
// without this, Go would compile everything again.
func TestMain(m *testing.M) {
	if err := os.Setenv("CGO_ENABLED", "0"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}
