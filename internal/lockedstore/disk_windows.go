package lockedstore

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/windows"
)

// Programs that examine every new file (scanners, indexers) keep it open for a moment.
const (
	renameAttempts = 20
	renameNap      = 25 * time.Millisecond
)

func rename(root *os.Root, from, to string) error {
	for attempt := 1; ; attempt++ {
		err := root.Rename(from, to)
		kept := errors.Is(err, windows.ERROR_ACCESS_DENIED) || errors.Is(err, windows.ERROR_SHARING_VIOLATION)
		if !kept || attempt == renameAttempts {
			return err
		}
		time.Sleep(renameNap)
	}
}

// syncDir does nothing: Windows cannot sync a directory on request.
func syncDir(*os.Root, string) error { return nil }
