package xec

import (
	"os/exec"
	"syscall"
)

// endWithCaller lets the kernel end the program when this process ends, even by kill -9. The signal
// lets git remove its lock files, which would block the repository for everybody. The kernel sends it
// when the thread that started the program ends, but the threads of a Go program end with it, unless
// a goroutine ends that has called [runtime.LockOSThread].
func endWithCaller(cmd *exec.Cmd) { cmd.SysProcAttr.Pdeathsig = syscall.SIGTERM }
