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
	"errors"
	"io"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// Mine reports whether the process at the other end of a connection belongs to the user with
// an ID, or to root, which can be this user in any case. local is the address at this end,
// remote that at the other. It is true where the system does not say who owns a connection. If the
// system does, and the look-up fails, the connection is not this user's: others can make it fail, for
// example by using up the file descriptors of this process. The next look-up can succeed.
func Mine(local net.Addr, remote string, uid int) (bool, error) {
	if local == nil {
		return false, nil
	}
	here, err := netip.ParseAddrPort(local.String())
	if err != nil {
		return false, nil //nolint:nilerr // no connection on loopback
	}
	there, err := netip.ParseAddrPort(remote)
	if err != nil {
		return false, nil //nolint:nilerr // no connection on loopback
	}
	owner, err := ownerOf(plain(here), plain(there))
	if errors.Is(err, errSilent) {
		return true, nil
	}
	return err == nil && (owner == uid || owner == 0), err
}

// errSilent is the error of a look-up on a system that does not say who owns a connection. Any other
// error is of a system that does.
var errSilent = errors.New("the system does not say whose a connection is")

// Tells reports whether the system says who owns a connection, so that [Mine] is never a guess.
func Tells() bool {
	_, err := listeners(0)
	return !errors.Is(err, errSilent)
}

// Held reports whether programs of the user with an ID, or of root, listen on a port of any address
// of this machine, and nobody else does. It is true where the system does not say who listens, and
// false if the look-up fails elsewhere.
func Held(port uint16, uid int) bool {
	owners, err := listeners(port)
	if err != nil {
		return errors.Is(err, errSilent)
	}
	return len(owners) > 0 && !slices.ContainsFunc(owners, func(owner int) bool { return owner != uid && owner != 0 })
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
func ownerIn(table io.Reader, from, to netip.AddrPort) (int, error) {
	lines := bufio.NewScanner(table)
	for lines.Scan() {
		columns := strings.Fields(lines.Text())
		if len(columns) <= columnOwner || columns[columnState] != established ||
			parse(columns[columnLocal]) != from || parse(columns[columnRemote]) != to {
			continue
		}
		if uid, err := strconv.Atoi(columns[columnOwner]); err == nil {
			return uid, nil
		}
	}
	return nobody, lines.Err()
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
