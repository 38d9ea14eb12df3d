package library

// SetMost sets the limits of the registries together.
func (l *Library) SetMost(size, commands int) { l.most = weight{size, commands} }
