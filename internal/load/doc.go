// Package load brings files of resources into a server: Bundles, single
// resources and NDJSON, also compressed with gzip. What it posts goes through
// the interactions as a client's requests do, so it is validated and indexed in
// the same way.
//
// FHIR packages come first, each behind those it needs. They are compared with
// what is stored, so a second load writes nothing, and are stored in few
// transactions, since each makes every instance rebuild its caches.
//
// The work is cut into units, each committed as a whole: a Bundle, or a chunk of
// lines. A journal remembers by their content which units were loaded, so that
// a load that was broken off continues where it stopped.
package load
