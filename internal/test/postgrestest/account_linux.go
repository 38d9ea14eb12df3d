package postgrestest

import "syscall"

// attributes end a server with the tests, however those end.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGQUIT} }
