package ranking

import "slices"

// Tokens returns the tokens of a text, so that other rankings can be given the same.
func Tokens(text string) []string { return slices.Collect(tokens(text)) }
