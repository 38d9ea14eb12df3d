//go:build !windows

package docker

import (
	"context"
	"errors"
	"net"
)

// dialPipe reports an error: only Windows has these named pipes.
func dialPipe(context.Context, string) (net.Conn, error) {
	return nil, errors.New("named pipes are for Windows")
}
