// Package embedded runs a PostgreSQL of the server's own, for those who name
// no database: private to its data folder, on a unix socket, with durable
// settings.
package embedded
