// Package browser tests the local page in Chromium: what a person sees and does, what a screen
// reader announces, and that strangers' text does no harm. Without Chromium, its tests are skipped.
package browser
