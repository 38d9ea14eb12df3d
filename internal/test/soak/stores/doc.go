// Package stores lets many processes work on one store of items, and compares the items with those
// that were acknowledged.
package stores
