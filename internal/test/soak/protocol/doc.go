// Package protocol sends a server many calls, cancellations, and input that no client would send.
package protocol
