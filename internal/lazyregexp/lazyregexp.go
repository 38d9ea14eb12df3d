// Package lazyregexp compiles regular expressions at their first use.
//
// Use [New] for a variable of a package. sync.OnceValue compiles at the first use, too, but its own
// call runs at each start of each program that links the package, and reads pages of the executable
// that nothing else needs. A [Regexp] is data of the executable.
package lazyregexp

import (
	"regexp"
	"sync"
)

// Regexp is a regular expression that is not compiled yet.
type Regexp struct {
	text     string
	once     sync.Once
	compiled *regexp.Regexp
}

// New returns the regular expression of a text. It is small enough for the compiler to evaluate it if
// the text is a constant.
func New(text string) *Regexp { return &Regexp{text: text} }

// Get returns the compiled expression. It panics if the text is not one.
func (r *Regexp) Get() *regexp.Regexp {
	r.once.Do(func() { r.compiled = regexp.MustCompile(r.text) })
	return r.compiled
}
