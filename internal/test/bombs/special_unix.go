//go:build unix

package bombs

import (
	"os"

	"golang.org/x/sys/unix"
)

// special returns the files that are not regular.
func special() []Bomb {
	link := func(to string) func(string) error {
		return func(path string) error { return os.Symlink(to, path) }
	}
	return []Bomb{
		{Name: "named pipe", dir: true, Plant: func(path string) error { return unix.Mkfifo(path, 0o600) }},
		{Name: "link to /dev/zero", Plant: link("/dev/zero")},
		{Name: "link to a terminal", Plant: link("/dev/ptmx")},
	}
}
