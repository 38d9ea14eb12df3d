package render

import "time"

// Substitute is for fuzzing without a file for each text.
var Substitute = substitute

// ProfilesAt returns Profiles for which it is that time.
func ProfilesAt(now time.Time) *Profiles { return &Profiles{now: func() time.Time { return now }} }
