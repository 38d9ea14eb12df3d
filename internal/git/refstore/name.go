package refstore

import "strings"

// ValidName reports whether git allows the full name of a ref. Names of one part, such as HEAD, are
// allowed.
func ValidName(name string) bool {
	if name == "@" || strings.HasSuffix(name, ".") {
		return false
	}
	for i := range len(name) {
		switch c := name[i]; c {
		case ' ', '~', '^', ':', '?', '*', '[', '\\', 0x7f:
			return false
		case '.':
			if strings.HasPrefix(name[i:], "..") {
				return false
			}
		case '@':
			if strings.HasPrefix(name[i:], "@{") {
				return false
			}
		default:
			if c < ' ' {
				return false
			}
		}
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || part[0] == '.' || strings.HasSuffix(part, ".lock") {
			return false
		}
	}
	return true
}
