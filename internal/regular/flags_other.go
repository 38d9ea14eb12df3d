//go:build !unix

package regular

import "os"

// Flags open a file for reading.
const Flags = os.O_RDONLY
