package library

import (
	"errors"
	"fmt"
	"io/fs"
)

// NameError reports an invalid name of an agent.
type NameError struct{ Agent string }

func (e *NameError) Error() string {
	return fmt.Sprintf("%q is not the name of an agent: use letters, digits, -, and _, and begin with a letter or digit", e.Agent)
}

// LoadError reports that the registry of an agent, or the map of agents, cannot be read.
type LoadError struct {
	// Path is the file at fault, from the workspace ("~/…": from the home directory), with slashes.
	Path string
	Err  error
}

func (e *LoadError) Error() string { return fmt.Sprintf("load registry %q: %s", e.Path, e.Details()) }

func (e *LoadError) Unwrap() error { return e.Err }

// Details describes the problem of the file, without its name.
func (e *LoadError) Details() string {
	if errors.Is(e.Err, fs.ErrNotExist) {
		return "File not found"
	}
	return e.Err.Error()
}
