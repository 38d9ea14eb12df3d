package jsonfile

import "bytes"

// Size is the size of JSON data apart from its bytes. The memory that decoding takes depends on it:
// a value such as "{}" takes three bytes of a file, and can take hundreds of memory.
type Size struct {
	// Values is about the number of values, at any depth.
	Values int
	// Containers is the number of arrays and objects, at any depth.
	Containers int
	// Longest is the number of elements in the longest array or object.
	Longest int
	// Depth is the number of arrays and objects inside each other.
	Depth int
}

// Measure measures JSON data, which need not be valid, in one pass.
func Measure(data []byte) Size {
	var (
		size Size
		open []int // the elements so far of each open array or object
	)
	for i := 0; i < len(data); i++ {
		switch data[i] {
		case '{', '[':
			open = append(open, 1)
			size.Values++
			size.Containers++
			size.Depth = max(size.Depth, len(open))
		case '}', ']':
			if len(open) > 0 {
				open = open[:len(open)-1]
			}
		case ',':
			size.Values++
			if last := len(open) - 1; last >= 0 {
				open[last]++
				size.Longest = max(size.Longest, open[last])
			}
		case '"':
			i = endOfString(data, i)
		}
	}
	return size
}

// endOfString returns the position of the quote that ends the string that begins at start, or the
// end of the data.
func endOfString(data []byte, start int) int {
	for i := start + 1; ; i++ {
		quote := bytes.IndexByte(data[i:], '"')
		if quote < 0 {
			return len(data)
		}
		i += quote
		escapes := 0
		for data[i-1-escapes] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			return i
		}
	}
}
