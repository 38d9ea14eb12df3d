//go:build !linux

package xec

import "os/exec"

// endWithCaller does nothing: on Windows, the group does it; other systems cannot.
func endWithCaller(*exec.Cmd) {}
