package library

// SetMost sets the limits of what a library keeps.
func (l *Library) SetMost(size, commands int) { l.most = weight{size, commands} }
