// Package stackroom gives goroutines that run at the start of a program their stack in one step.
//
// A stack that grows step by step is copied each time, which reads the tables of all functions on
// it: pages of the executable that nothing else needs. The main goroutine, which initializes all
// packages, has its stack before they begin, because this package imports nothing and is therefore
// initialized before those that need much. Other goroutines call [Grow].
package stackroom

const (
	// Usual is how much of its stack a goroutine needs that runs a program or reads its input.
	Usual = 24 << 10
	// initial is how much the initialization of packages needs: some compile regular expressions.
	initial = 64 << 10
)

var _ = grow(false)

// Grow grows the stack of its goroutine by [Usual] bytes.
func Grow() { growUsual(false) }

// growUsual has a frame of Usual bytes. The runtime makes room for it even if it is not used.
//
//go:noinline
func growUsual(use bool) byte {
	if !use {
		return 0
	}
	var room [Usual]byte
	for i := range room {
		room[i] = byte(i)
	}
	return room[Usual/2]
}

// grow is growUsual for the initialization of packages.
//
//go:noinline
func grow(use bool) byte {
	if !use {
		return 0
	}
	var room [initial]byte
	for i := range room {
		room[i] = byte(i)
	}
	return room[initial/2]
}
