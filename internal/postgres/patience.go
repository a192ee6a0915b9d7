package postgres

import "time"

// A batch costs as much as four writes before its first row, so a small one
// waits for company where company is to be expected, for as long as the batches
// before it took to write. On a machine with time to spare that is little; where
// an instance has a small part of a full one it is long, and so much dearer is
// a batch. See docs/adr/0003-coalescing.md.
const (
	// company is how many writes need no more of it: they cost a tenth more than
	// any number would.
	company = 32
	// lonely is how many writes at once are too few to wait for one another.
	lonely = 4
	// shortest is a wait not worth a timer.
	shortest = 200 * time.Microsecond
	// longest is the longest wait, whatever batches took.
	longest = 40 * time.Millisecond
)

// patience is what a writer knows of its last batches. It is guarded by
// writer.mu.
type patience struct {
	atOnce  float64       // writes waiting or under way, the most of late
	writing time.Duration // what a batch took to write, the disk apart, of late
}

// saw notes how many writes wait or are under way.
func (p *patience) saw(n int) { p.atOnce = max(float64(n), p.atOnce*15/16) }

// wrote notes what a batch took.
func (p *patience) wrote(took time.Duration) { p.writing += (min(took, longest) - p.writing) / 8 }

// wanted is for how many writes a batch waits.
func (p *patience) wanted() int {
	if p.atOnce < lonely {
		return 1
	}
	return min(int(p.atOnce), company)
}

// limit is how long it waits for them at most.
func (p *patience) limit() time.Duration { return p.writing }
