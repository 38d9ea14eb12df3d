package terminal

import "golang.org/x/sys/unix"

const (
	getSettings = unix.TCGETS
	setSettings = unix.TCSETS
)
