package xec_test

import "os/exec"

// leaveGroup does nothing: no process leaves a job object.
func leaveGroup(*exec.Cmd) {}
