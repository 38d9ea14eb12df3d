// Package writers tries to make copse lose a write: it kills writers, fills the disk, moves the clock, and
// edits files at the same time.
package writers
