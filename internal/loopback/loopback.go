// Package loopback finds out whose process is at the other end of a TCP connection inside this
// machine.
//
// All users of a machine can connect to a port on loopback, and the connection itself does not
// identify the user. Linux lists the sockets of all users with their owners; [Mine] looks a
// connection up there, and [Held] who listens on a port.
package loopback

import (
	"bufio"
	"encoding/binary"
	"encoding/hex"
	"io"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// Mine reports whether the process at the other end of a connection belongs to the user with
// an ID, or to root, which can be this user in any case. local is the address at this end,
// remote that at the other. It is true where the system does not say who owns a connection.
func Mine(local net.Addr, remote string, uid int) bool {
	if local == nil {
		return false
	}
	here, err := netip.ParseAddrPort(local.String())
	if err != nil {
		return false
	}
	there, err := netip.ParseAddrPort(remote)
	if err != nil {
		return false
	}
	here, there = plain(here), plain(there)
	owner, told := ownerOf(here, there)
	return !told || owner == uid || owner == 0
}

// Tells reports whether the system says who owns a connection, so that [Mine] is never a guess.
func Tells() bool {
	_, told := listeners(0)
	return told
}

// Held reports whether programs of the user with an ID, or of root, listen on a port of any address
// of this machine, and nobody else does. It is true where the system does not say who listens.
func Held(port uint16, uid int) bool {
	owners, told := listeners(port)
	return !told || len(owners) > 0 && !slices.ContainsFunc(owners, func(owner int) bool { return owner != uid && owner != 0 })
}

// listenersIn returns the users who listen on a port in a table of sockets.
func listenersIn(table io.Reader, port uint16) []int {
	var owners []int
	for lines := bufio.NewScanner(table); lines.Scan(); {
		columns := strings.Fields(lines.Text())
		if len(columns) <= columnOwner || columns[columnState] != listening || parse(columns[columnLocal]).Port() != port {
			continue
		}
		if uid, err := strconv.Atoi(columns[columnOwner]); err == nil {
			owners = append(owners, uid)
		}
	}
	return owners
}

// nobody is the owner of a connection that the system does not list.
const nobody = -1

// plain returns an address in the form in which addresses are compared: an IPv4 address that is
// written as an IPv6 address is the IPv4 address.
func plain(at netip.AddrPort) netip.AddrPort {
	return netip.AddrPortFrom(at.Addr().Unmap().WithZone(""), at.Port())
}

// The columns of Linux's tables of sockets; see proc_net_tcp in the kernel's documentation.
const (
	columnLocal  = 1
	columnRemote = 2
	columnState  = 3
	columnOwner  = 7
	// established is the state of a connection that both ends have open. Other states are of
	// sockets that no process has open, which the table lists as root's.
	established = "01"
	listening   = "0A"
)

// ownerIn returns the user who has the connection from one address to another in a table of
// sockets, or nobody.
func ownerIn(table io.Reader, from, to netip.AddrPort) int {
	for lines := bufio.NewScanner(table); lines.Scan(); {
		columns := strings.Fields(lines.Text())
		if len(columns) <= columnOwner || columns[columnState] != established ||
			parse(columns[columnLocal]) != from || parse(columns[columnRemote]) != to {
			continue
		}
		if uid, err := strconv.Atoi(columns[columnOwner]); err == nil {
			return uid
		}
	}
	return nobody
}

// parse reads an address of a table: words of 32 bits in the byte order of the machine, as
// hexadecimal numbers, and a port.
func parse(text string) netip.AddrPort {
	digits, port, _ := strings.Cut(text, ":")
	number, err := strconv.ParseUint(port, 16, 16)
	if err != nil {
		return netip.AddrPort{}
	}
	const word = 4
	raw, err := hex.DecodeString(digits)
	if err != nil || len(raw)%word != 0 {
		return netip.AddrPort{}
	}
	for i := 0; i < len(raw); i += word {
		binary.NativeEndian.PutUint32(raw[i:], binary.BigEndian.Uint32(raw[i:]))
	}
	addr, ok := netip.AddrFromSlice(raw)
	if !ok {
		return netip.AddrPort{}
	}
	return plain(netip.AddrPortFrom(addr, uint16(number)))
}
