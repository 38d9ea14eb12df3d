//go:build !linux

package idle

// unmapExecutable does nothing: only Linux has a way to do it.
func unmapExecutable() {}
