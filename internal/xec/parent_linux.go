package xec

import (
	"os/exec"
	"syscall"
)

// endWithCaller lets the kernel kill the program when this process ends, even by kill -9. The kernel
// does so when the thread that started the program ends, but the threads of a Go program end with
// it, unless a goroutine ends that has called [runtime.LockOSThread].
func endWithCaller(cmd *exec.Cmd) { cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL }
