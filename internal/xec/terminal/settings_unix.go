//go:build unix

package terminal

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"os"
	"slices"

	"golang.org/x/sys/unix"
)

func settings(f *os.File) (unix.Termios, error) {
	s, err := unix.IoctlGetTermios(int(f.Fd()), getSettings)
	if err != nil {
		return unix.Termios{}, err
	}
	return *s, nil
}

func set(f *os.File, s unix.Termios) error {
	return unix.IoctlSetTermios(int(f.Fd()), setSettings, &s)
}

// raw returns settings that pass each key on, and each byte to the screen.
func raw(s unix.Termios) unix.Termios {
	s.Iflag &^= unix.IGNBRK | unix.BRKINT | unix.PARMRK | unix.ISTRIP | unix.INLCR | unix.IGNCR | unix.ICRNL | unix.IXON
	s.Oflag &^= unix.OPOST
	s.Lflag &^= unix.ECHO | unix.ECHONL | unix.ICANON | unix.ISIG | unix.IEXTEN
	s.Cflag &^= unix.CSIZE | unix.PARENB
	s.Cflag |= unix.CS8
	s.Cc[unix.VMIN], s.Cc[unix.VTIME] = 1, 0
	return s
}

// isRaw reports whether settings are those of raw. Line editors of shells keep the signals.
func isRaw(s unix.Termios) bool {
	return s.Lflag&(unix.ICANON|unix.ECHO|unix.ISIG) == 0 && s.Oflag&unix.OPOST == 0
}

// disabled is what no key sends: a byte that settings use for a signal without a key.
const disabled = -1

// sends returns the key that sends a signal, a setting such as [unix.VINTR]; disabled if no key does.
func sends(s unix.Termios, signal int) int {
	if key := s.Cc[signal]; s.Lflag&unix.ISIG != 0 && key != 0 && key != 0xff {
		return int(key)
	}
	return disabled
}

// find returns the index of a key among those typed, -1 if it is not there.
func find(keys []byte, key int) int {
	return slices.IndexFunc(keys, func(k byte) bool { return int(k) == key })
}

// State returns the settings of the person's terminal for [Restore].
func (t *Terminal) State() string {
	var b bytes.Buffer
	_ = binary.Write(&b, binary.NativeEndian, t.own) // has a fixed size
	return hex.EncodeToString(b.Bytes())
}

// Restore returns a person's terminal to a state if a [Terminal] has left it otherwise.
func Restore(in *os.File, state string) {
	var own unix.Termios
	data, err := hex.DecodeString(state)
	if err != nil || binary.Read(bytes.NewReader(data), binary.NativeEndian, &own) != nil {
		return
	}
	if now, err := settings(in); err == nil && isRaw(now) && !isRaw(own) {
		_ = set(in, own)
	}
}
