package loopback

import (
	"net"
	"net/netip"
	"os"
	"os/exec"
	"syscall"
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
	exact, err := exactly(there, here)
	if err != nil {
		t.Log("this kernel does not look up one socket")
	} else if exact != listed || exact != otheruser.UID {
		t.Errorf("the kernel says %d and lists %d", exact, listed)
	}
	if mine, _ := Mine(server.LocalAddr(), server.RemoteAddr().String(), otheruser.UID-1); mine {
		t.Error("the connection of another user is taken for this user's")
	}
	if mine, _ := Mine(server.LocalAddr(), server.RemoteAddr().String(), otheruser.UID); !mine {
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
		uid, err := exactly(there, here)
		if err != nil {
			t.Skip("this kernel does not look up one socket")
		}
		if uid != os.Getuid() {
			t.Errorf("%s: %d", address, uid)
		}
		_ = client.Close()
		if uid, err := exactly(there, here); uid != nobody || err != nil {
			t.Errorf("%s, closed: %d, %v", address, uid, err)
		}
		if uid, err := exactly(netip.AddrPortFrom(there.Addr(), 1), here); uid != nobody || err != nil {
			t.Errorf("%s, no socket: %d, %v", address, uid, err)
		}
	}
}

// A process without a free file descriptor takes no connection and no port for this user's, and looks
// again when it has one.
func TestFailedLookUp(t *testing.T) {
	if os.Getenv("COPSE_TEST_NO_FILES") == "" {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestFailedLookUp$")
		cmd.Env = append(os.Environ(), "COPSE_TEST_NO_FILES=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
		return
	}
	if !Tells() {
		t.Skip("this system does not say whose a connection is")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	client, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	port := l.Addr().(*net.TCPAddr).AddrPort().Port()
	remote := client.LocalAddr().String()
	var was syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &was); err != nil {
		t.Fatal(err)
	}
	// Each number of free descriptors makes another part of the look-up fail.
	for free := range uint64(2) {
		next, err := syscall.Dup(0) // the next free descriptor
		if err != nil {
			t.Fatal(err)
		}
		_ = syscall.Close(next)
		limit := syscall.Rlimit{Cur: uint64(next) + free, Max: was.Max}
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
			t.Fatal(err)
		}
		mine, lookErr := Mine(l.Addr(), remote, os.Getuid())
		tells, held := Tells(), Held(port, os.Getuid())
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &was); err != nil {
			t.Fatal(err)
		}
		if found := free > 0; mine != found || lookErr == nil != found || held != found || !tells {
			t.Errorf("%d free: mine %v (%v), held %v, tells %v", free, mine, lookErr, held, tells)
		}
	}
	if mine, err := Mine(l.Addr(), remote, os.Getuid()); !mine || err != nil {
		t.Errorf("later: %v, %v", mine, err)
	}
}
