package operation

import "time"

// SetNow replaces the clock.
func (r *Reader) SetNow(now func() time.Time) { r.now = now }
