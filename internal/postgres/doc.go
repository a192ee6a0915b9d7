// Package postgres keeps resources in PostgreSQL (15 or later). It implements
// fhir.Store; docs/storage.md explains its tables.
//
// Reads and writes of single resources are coalesced: a loop takes the first
// request waiting, and all others already waiting with it, and carries them
// out in one statement or transaction (reader.go, writer.go). Few writes may wait
// for more (patience.go).
package postgres
