//go:build !unix

package regular

// WithOwner returns the error.
func WithOwner(err error, _ string) error { return err }
