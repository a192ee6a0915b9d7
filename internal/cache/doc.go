// Package cache keeps what an instance derives from system resources in its
// memory, and in step with the other instances through the database alone.
//
// Each domain is an immutable snapshot behind an atomic pointer, labelled with
// the version it was read at. A notification is a hint; the version row in the
// database is the truth.
package cache
