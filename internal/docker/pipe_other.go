//go:build !windows

package docker

import (
	"context"
	"errors"
	"net"
)

// dialPipe connects to a named pipe of Windows, which only Windows has.
func dialPipe(context.Context, string) (net.Conn, error) {
	return nil, errors.New("named pipes are for Windows")
}
