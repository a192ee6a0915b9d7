// Package program runs the real server as a process, and a real PostgreSQL for
// several of them to share, for tests that look at it from outside only.
package program
