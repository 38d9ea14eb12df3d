package project

import "time"

// SetClock makes directories look as if they had changed that long ago.
func (n *Names[T]) SetClock(ahead time.Duration) {
	n.now = func() time.Time { return time.Now().Add(ahead) }
}
