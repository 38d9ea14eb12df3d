package yamlmap

// Simple reports whether text is read without the library.
func Simple(text string) bool {
	m := &Map{}
	entries, ok := split(text, nil)
	for _, e := range entries {
		if _, _, decoded := decode(text[e.after:e.end]); !decoded {
			ok = false
		}
	}
	m.entries = entries
	return ok
}

// ByLibrary reads text with the library alone.
func ByLibrary(text string) (*Map, error) {
	m := &Map{text: text}
	err := m.readByLibrary()
	return m, err
}
