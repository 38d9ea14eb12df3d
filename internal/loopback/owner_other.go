//go:build !linux

package loopback

import "net/netip"

// ownerOf reports that other systems do not say who has a connection.
func ownerOf(_, _ netip.AddrPort) (uid int, told bool) { return nobody, false }
