package loopback

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// tables are the kernel's tables of sockets.
var tables = [...]string{"/proc/net/tcp", "/proc/net/tcp6"}

// ownerOf returns the user who has the other end of a connection.
func ownerOf(here, there netip.AddrPort) (uid int, err error) {
	uid, err = exactly(there, here)
	if err == nil {
		return uid, nil
	}
	listed, tablesErr := ownerInTables(here, there)
	if errors.Is(tablesErr, errSilent) {
		return nobody, err
	}
	return listed, tablesErr
}

func ownerInTables(here, there netip.AddrPort) (int, error) {
	uid := nobody
	err := eachTable(func(table io.Reader) error {
		if uid != nobody {
			return nil
		}
		var err error
		uid, err = ownerIn(table, there, here)
		return err
	})
	return uid, err
}

// listeners returns the users who listen on a port.
func listeners(port uint16) (owners []int, err error) {
	err = eachTable(func(table io.Reader) error {
		listed, err := listenersIn(table, port)
		owners = append(owners, listed...)
		return err
	})
	return owners, err
}

// eachTable reads all tables. A machine without IPv6 has one. A table that the system has and that
// cannot be read is an error: the others do not say what it lists.
func eachTable(read func(io.Reader) error) error {
	told := false
	for _, path := range tables {
		table, err := os.Open(path) //nolint:forbidigo // a file of the kernel
		if err = silent(err); errors.Is(err, errSilent) {
			continue
		}
		if err != nil {
			return err
		}
		err = read(table)
		_ = table.Close()
		if err != nil {
			return err
		}
		told = true
	}
	if !told {
		return errSilent
	}
	return nil
}

// silent returns errSilent for an error that means that the system does not have, or does not
// permit, a look-up. It returns all others unchanged, such as those of a process without a free file
// descriptor.
func silent(err error) error {
	for _, always := range []error{
		fs.ErrNotExist, fs.ErrPermission, errors.ErrUnsupported,
		syscall.EAFNOSUPPORT, syscall.EPROTONOSUPPORT, syscall.ESOCKTNOSUPPORT,
	} {
		if errors.Is(err, always) {
			return errSilent
		}
	}
	return err
}

// listenersIn returns the users who listen on a port in a table of sockets.
func listenersIn(table io.Reader, port uint16) (owners []int, err error) {
	lines := bufio.NewScanner(table)
	for lines.Scan() {
		columns := strings.Fields(lines.Text())
		if len(columns) <= columnOwner || columns[columnState] != listening || parse(columns[columnLocal]).Port() != port {
			continue
		}
		if uid, err := strconv.Atoi(columns[columnOwner]); err == nil {
			owners = append(owners, uid)
		}
	}
	return owners, lines.Err()
}
