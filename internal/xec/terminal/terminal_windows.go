package terminal

import (
	"errors"
	"io"
	"os"
	"time"
)

// Terminal is not used: Of returns nil.
type Terminal struct{}

func usable(_, _ *os.File) bool { return false }

// Open returns an error.
func (p *Person) Open() (*Terminal, error) { return nil, errors.ErrUnsupported }

// State returns "".
func (t *Terminal) State() string { return "" }

// Program returns nil.
func (t *Terminal) Program() *os.File { return nil }

// Serve does nothing.
func (t *Terminal) Serve(io.Writer, func()) {}

// Close does nothing.
func (t *Terminal) Close(time.Duration) {}
