package cachedfile

import (
	"os"
	"time"
)

// SetClock makes the File believe that its readings happen ahead of now.
func (f *File[T]) SetClock(ahead time.Duration) {
	f.now = func() time.Time { return time.Now().Add(ahead) }
}

// SetWindow replaces the time for which a changed file is not trusted.
func (f *File[T]) SetWindow(d time.Duration) { f.window = d }

// OnOpen calls hook with the number of each opening before it happens.
func (f *File[T]) OnOpen(hook func(n int)) {
	open, n := f.open, 0
	f.open = func(path string) (*os.File, error) {
		n++
		hook(n)
		return open(path)
	}
}
