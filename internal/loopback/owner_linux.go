package loopback

import (
	"net/netip"
	"os"
)

// tables are the kernel's tables of sockets.
var tables = [...]string{"/proc/net/tcp", "/proc/net/tcp6"}

// ownerOf returns the user who has the other end of a connection. told is false if the kernel does not
// answer, and the tables cannot be read.
func ownerOf(here, there netip.AddrPort) (uid int, told bool) {
	if uid, told := exactly(there, here); told {
		return uid, true
	}
	return ownerInTables(here, there)
}

func ownerInTables(here, there netip.AddrPort) (uid int, told bool) {
	for _, path := range tables {
		table, err := os.Open(path)
		if err != nil {
			continue // a machine without IPv6 has one table
		}
		told = true
		uid = ownerIn(table, there, here)
		_ = table.Close()
		if uid != nobody {
			return uid, true
		}
	}
	return nobody, told
}

// listeners returns the users who listen on a port. told is false if the tables cannot be read.
func listeners(port uint16) (owners []int, told bool) {
	for _, path := range tables {
		table, err := os.Open(path)
		if err != nil {
			continue
		}
		told = true
		owners = append(owners, listenersIn(table, port)...)
		_ = table.Close()
	}
	return owners, told
}
