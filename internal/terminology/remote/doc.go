// Package remote asks another terminology server for what is not held here.
// It is bounded: in the time a question may take, in how many are under way,
// in the size of an answer and of all that are kept. While the server does not
// answer it is not asked, so that what waits for it waits once.
package remote
