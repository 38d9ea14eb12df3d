package presence

import "time"

// RetryAfter sets the time until the next attempt after a write that failed.
func RetryAfter(r *Register, after time.Duration) { r.retry = after }
