package loopback

import (
	"encoding/binary"
	"errors"
	"net/netip"
	"syscall"
)

// The kernel's interface for questions about sockets; see sock_diag(7).
const (
	netlinkSockDiag  = 4
	sockDiagByFamily = 20
	stateEstablished = 1
	// requestSize is the size of the header and of struct inet_diag_req_v2, and answerSize the size up to
	// the end of idiag_uid in struct inet_diag_msg.
	requestSize = syscall.NLMSG_HDRLEN + 56
	answerSize  = syscall.NLMSG_HDRLEN + 68
	// The places in the request and the answer.
	placeFamily, placeProtocol, placeStates = syscall.NLMSG_HDRLEN, syscall.NLMSG_HDRLEN + 1, syscall.NLMSG_HDRLEN + 4
	placeSocket, placeCookie                = syscall.NLMSG_HDRLEN + 8, syscall.NLMSG_HDRLEN + 48
	placeState, placeUser                   = syscall.NLMSG_HDRLEN + 1, syscall.NLMSG_HDRLEN + 64
)

// exactly returns the user who has the end from of a connection, nobody if no process has it. The kernel
// looks that one socket up, while it lists all of them in its tables.
func exactly(from, to netip.AddrPort) (uid int, err error) {
	fd, err := syscall.Socket(syscall.AF_NETLINK, syscall.SOCK_DGRAM|syscall.SOCK_CLOEXEC, netlinkSockDiag)
	if err != nil {
		return nobody, silent(err)
	}
	defer syscall.Close(fd) //nolint:errcheck // nothing was written to it
	// The kernel answers before the request returns; the limit is for others that do not.
	limit := syscall.Timeval{Usec: 100_000}
	if err := syscall.SetsockoptTimeval(fd, syscall.SOL_SOCKET, syscall.SO_RCVTIMEO, &limit); err != nil {
		return nobody, silent(err)
	}
	state, uid, err := socketAt(fd, from, to)
	switch {
	case err == nil && state == stateEstablished:
		return uid, nil
	case err == nil:
		return nobody, nil // a socket that no process has, or that listens
	}
	// A kernel without this interface also says that there is no such socket. It knows that of this process.
	_, _, err = socketAt(fd, to, from)
	return nobody, err
}

// socketAt asks for the socket with a local and a remote address. The error is errSilent if there is no
// answer.
func socketAt(fd int, local, remote netip.AddrPort) (state byte, uid int, err error) {
	request := make([]byte, requestSize)
	order := binary.NativeEndian
	order.PutUint32(request, requestSize)
	order.PutUint16(request[4:], sockDiagByFamily)
	order.PutUint16(request[6:], syscall.NLM_F_REQUEST)
	request[placeFamily] = syscall.AF_INET
	if local.Addr().Is6() {
		request[placeFamily] = syscall.AF_INET6
	}
	request[placeProtocol] = syscall.IPPROTO_TCP
	order.PutUint32(request[placeStates:], ^uint32(0))
	socket := request[placeSocket:]
	binary.BigEndian.PutUint16(socket, local.Port())
	binary.BigEndian.PutUint16(socket[2:], remote.Port())
	copy(socket[4:20], local.Addr().AsSlice())
	copy(socket[20:36], remote.Addr().AsSlice())
	order.PutUint64(request[placeCookie:], ^uint64(0)) // any
	if err := syscall.Sendto(fd, request, 0, &syscall.SockaddrNetlink{Family: syscall.AF_NETLINK}); err != nil {
		return 0, nobody, silent(err)
	}
	answer := make([]byte, 4096)
	n, _, err := syscall.Recvfrom(fd, answer, 0)
	switch {
	case err != nil && !errors.Is(err, syscall.EAGAIN):
		return 0, nobody, silent(err)
	case err != nil || n < answerSize || order.Uint16(answer[4:]) != sockDiagByFamily:
		return 0, nobody, errSilent
	}
	return answer[placeState], int(order.Uint32(answer[placeUser:])), nil
}
