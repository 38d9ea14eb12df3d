package loopback

import (
	"net"
	"testing"

	"github.com/copse-dev/copse/internal/test/otheruser"
)

// A process of another user is not this user's.
func TestStranger(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var client net.Conn
	otheruser.Do(t, func() { client, err = net.Dial("tcp", l.Addr().String()) })
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	server, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	if Mine(server.LocalAddr(), server.RemoteAddr().String(), otheruser.UID-1) {
		t.Error("the connection of another user is taken for this user's")
	}
	if !Mine(server.LocalAddr(), server.RemoteAddr().String(), otheruser.UID) {
		t.Error("the user's own connection is refused")
	}
}
