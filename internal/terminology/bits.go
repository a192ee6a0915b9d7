package terminology

import "math/bits"

// bitset is a set of the concepts of one system, by their numbers.
type bitset []uint64

func newBitset(n int) bitset { return make(bitset, (n+63)/64) }

// fullBitset holds all numbers below n.
func fullBitset(n int) bitset {
	b := newBitset(n)
	for i := range n {
		b.add(i)
	}
	return b
}

func (b bitset) has(i int) bool { return b[i/64]&(1<<(i%64)) != 0 }
func (b bitset) add(i int)      { b[i/64] |= 1 << (i % 64) }
func (b bitset) remove(i int)   { b[i/64] &^= 1 << (i % 64) }

// count is how many numbers it has.
func (b bitset) count() int {
	n := 0
	for _, word := range b {
		n += bits.OnesCount64(word)
	}
	return n
}

// and keeps what is in other, too.
func (b bitset) and(other bitset) {
	for i := range b {
		b[i] &= other[i]
	}
}

// not turns the set of n numbers into its complement.
func (b bitset) not(n int) {
	for i := range b {
		b[i] = ^b[i]
	}
	if rest := n % 64; rest != 0 {
		b[len(b)-1] &= 1<<rest - 1
	}
}

// each gives the numbers, in order, until yield returns false.
func (b bitset) each(yield func(int) bool) {
	for i, word := range b {
		for ; word != 0; word &= word - 1 {
			if !yield(i*64 + bits.TrailingZeros64(word)) {
				return
			}
		}
	}
}
