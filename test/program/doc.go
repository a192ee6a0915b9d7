// Package program runs the real server as a process, for tests that look at it
// from outside only.
package program
