// Package browser tests the local page in Chromium: what a person sees and does, what a
// screen reader is told, and what strangers' text must not do. Without Chromium its tests are
// skipped.
package browser
