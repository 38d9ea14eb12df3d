package loopback

import (
	"net"
	"net/netip"
	"os"
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
	here, there := server.LocalAddr().(*net.TCPAddr).AddrPort(), client.LocalAddr().(*net.TCPAddr).AddrPort()
	listed, _ := ownerInTables(here, there)
	exact, told := exactly(there, here)
	if !told {
		t.Log("this kernel does not look up one socket")
	} else if exact != listed || exact != otheruser.UID {
		t.Errorf("the kernel says %d and lists %d", exact, listed)
	}
	if Mine(server.LocalAddr(), server.RemoteAddr().String(), otheruser.UID-1) {
		t.Error("the connection of another user is taken for this user's")
	}
	if !Mine(server.LocalAddr(), server.RemoteAddr().String(), otheruser.UID) {
		t.Error("the user's own connection is refused")
	}
}

// A port is not held by this user if another one listens there, or nobody does.
func TestHeld(t *testing.T) {
	t.Parallel()
	listen := func() (net.Listener, uint16) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Error(err)
			return nil, 0
		}
		t.Cleanup(func() { _ = l.Close() })
		return l, uint16(l.Addr().(*net.TCPAddr).Port)
	}
	l, port := listen()
	if l == nil || !Held(port, os.Getuid()) {
		t.Error("this user's port is taken for another's")
	}
	_ = l.Close()
	if Held(port, os.Getuid()) {
		t.Error("a free port is held")
	}
	otheruser.Do(t, func() { _, port = listen() })
	if Held(port, os.Getuid()) {
		t.Error("another user's port is taken for this user's")
	}
}

// The kernel finds the owner of one socket as its tables list it, without reading them: sockets of both
// families, and none that no process has.
func TestExactly(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"127.0.0.1:0", "[::1]:0"} {
		l, err := net.Listen("tcp", address)
		if err != nil {
			t.Log(err)
			continue
		}
		defer l.Close()
		client, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		here, there := l.Addr().(*net.TCPAddr).AddrPort(), client.LocalAddr().(*net.TCPAddr).AddrPort()
		uid, told := exactly(there, here)
		if !told {
			t.Skip("this kernel does not look up one socket")
		}
		if uid != os.Getuid() {
			t.Errorf("%s: %d", address, uid)
		}
		_ = client.Close()
		if uid, told := exactly(there, here); uid != nobody || !told {
			t.Errorf("%s, closed: %d, %v", address, uid, told)
		}
		if uid, told := exactly(netip.AddrPortFrom(there.Addr(), 1), here); uid != nobody || !told {
			t.Errorf("%s, no socket: %d, %v", address, uid, told)
		}
	}
}
