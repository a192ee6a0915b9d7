// Package cluster runs two servers over one PostgreSQL behind nginx, as real
// processes, and holds them to what clients are promised of several instances.
package cluster
