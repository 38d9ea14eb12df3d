// Package stores lets many processes work on one store of items, and counts what was acknowledged and
// what is there.
package stores
