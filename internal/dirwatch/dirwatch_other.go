//go:build !linux

package dirwatch

// Watch is for systems that can tell at once, and exactly, which files of a directory have
// changed. This is none: what they have reports later, or needs an open descriptor for each
// file.
type Watch struct{}

// Open returns [ErrUnsupported].
func Open() (*Watch, error) { return nil, ErrUnsupported }

// Close does nothing.
func (*Watch) Close() error { return nil }

// Add returns [ErrUnsupported].
func (*Watch) Add(string) (Dir, error) { return 0, ErrUnsupported }

// Remove does nothing.
func (*Watch) Remove(Dir) {}

// Changed returns [ErrUnsupported].
func (*Watch) Changed(func(Change)) error { return ErrUnsupported }

func limit() int { return 0 }
