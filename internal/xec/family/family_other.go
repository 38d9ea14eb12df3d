//go:build !linux && !darwin && !windows

package family

import "os"

// Other systems are asked nothing: the process group must do there.

func processes() []int { return nil }

func parentOf(int) int { return 0 }

// Started returns "": starts are not known here.
func Started(int) string { return "" }

// hidden reports true: nothing is known here.
func hidden(int) bool { return true }

// Marked returns none.
func Marked(string) []*os.Process { return nil }

// space returns "": all processes of a machine are seen from everywhere on it.
func space() string { return "" }
