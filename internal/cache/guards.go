package cache

// guards are what the protocol cannot do without. Only the tests take one out,
// to see that they notice.
type guards struct {
	listenFirst bool // LISTEN before the versions are read
	fillFence   bool // a fill replaces only an older one
	writeFence  bool // writes carry what they rest on
	lease       bool // what has not been proved current for L is not used
	gaps        bool // what a reading of the versions finds is taken up, told of or not
	barrier     bool // who changes system resources waits for the members
}
