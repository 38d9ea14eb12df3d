package full

import _ "embed"

// The tests of the module write the file.
//
//go:embed definitions.json
var definitions string

// Definitions returns the definitions of the tools of all toolsets, as clients read them.
func Definitions() string { return definitions }
