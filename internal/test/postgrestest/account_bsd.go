//go:build unix && !linux

package postgrestest

import "syscall"

func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{} }
