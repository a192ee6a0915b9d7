// Package conformance holds the tests that look at the whole server from
// outside: what the public material shows (with CONFORMANCE_DATA), and what must
// hold when requests come at once, over two servers, or when one is killed.
package conformance
