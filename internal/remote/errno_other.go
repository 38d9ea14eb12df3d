//go:build !windows

package remote

import "syscall"

const (
	errConnReset   = syscall.ECONNRESET
	errConnRefused = syscall.ECONNREFUSED
)
