package loopback

import (
	"net"
	"net/netip"
	"os"
	"strings"
	"testing"
)

// table is as Linux writes it, on a machine whose lowest byte comes first.
const table = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:0BB8 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 11 1 0 100 0 0 10 0
   1: 0100007F:C350 0100007F:0BB8 01 00000000:00000000 00:00000000 00000000  1001        0 12 1 0 20 4 30 10 -1
   2: 0100007F:0BB8 0100007F:C350 01 00000000:00000000 00:00000000 00000000  1000        0 13 1 0 20 4 30 10 -1
   3: 0100007F:C351 0100007F:0BB8 06 00000000:00000000 03:00000000 00000000     0        0 0 3 0
   4: 0000000000000000FFFF00000100007F:C352 0000000000000000FFFF00000100007F:0BB8 01 00000000:00000000 00:00000000 00000000  1002        0 14 1 0
   5: 00000000000000000000000001000000:C353 00000000000000000000000001000000:0BB8 01 00000000:00000000 00:00000000 00000000  1003        0 15 1 0
   6: torn
`

func TestOwnerIn(t *testing.T) {
	t.Parallel()
	if parse("0100007F:0BB8") != netip.MustParseAddrPort("127.0.0.1:3000") {
		t.Skip("the table has another byte order than this machine")
	}
	for _, tt := range []struct {
		name, from, to string
		want           int
	}{
		{"the client's end counts", "127.0.0.1:50000", "127.0.0.1:3000", 1001},
		{"the server's end", "127.0.0.1:3000", "127.0.0.1:50000", 1000},
		{"a socket that no process has", "127.0.0.1:50001", "127.0.0.1:3000", nobody},
		{"IPv4 in a socket of IPv6", "127.0.0.1:50002", "127.0.0.1:3000", 1002},
		{"IPv6", "[::1]:50003", "[::1]:3000", 1003},
		{"another port of the server", "127.0.0.1:50000", "127.0.0.1:3001", nobody},
		{"a listener is no connection", "127.0.0.1:3000", "0.0.0.0:0", nobody},
	} {
		if got, err := ownerIn(strings.NewReader(table), netip.MustParseAddrPort(tt.from), netip.MustParseAddrPort(tt.to)); got != tt.want || err != nil {
			t.Errorf("%s: got %d (%v), want %d", tt.name, got, err, tt.want)
		}
	}
}

// connect returns both ends of a connection, as the server sees them.
func connect(t *testing.T, network, address string) (local net.Addr, remote string) {
	t.Helper()
	l, err := net.Listen(network, address)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	client, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	server, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	return server.LocalAddr(), server.RemoteAddr().String()
}

// A process of this user is let in over both protocols.
func TestMine(t *testing.T) {
	t.Parallel()
	for network, address := range map[string]string{"tcp4": "127.0.0.1:0", "tcp6": "[::1]:0", "tcp": "127.0.0.1:0"} {
		local, remote := connect(t, network, address)
		if mine, err := Mine(local, remote, os.Getuid()); !mine {
			t.Errorf("%s: the connection of this process is another user's (%v)", network, err)
		}
	}
	if mine, _ := Mine(nil, "127.0.0.1:1", os.Getuid()); mine {
		t.Error("a connection without ends is mine")
	}
}
