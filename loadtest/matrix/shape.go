// Package matrix compares ways to split the same cores between instances: it
// runs the CRUD load against each shape behind nginx, and tabulates rate,
// latency and memory beside the published reference.
package matrix

import (
	"fmt"
	"slices"
)

// Cores of each shape in sum.
const Cores = 8

// Shape is a number of instances with so many cores each.
type Shape struct {
	Instances int `json:"instances"`
	Cores     int `json:"cores"` // of each instance
}

// Shapes are those of the reference, the one the others are compared with first.
var Shapes = []Shape{{1, 8}, {2, 4}, {4, 2}, {8, 1}}

func (s Shape) String() string { return fmt.Sprintf("%d×%d", s.Instances, s.Cores) }

// Reference is the published result for a shape, in requests a second: Aidbox,
// 37 virtual users a core, on a host large enough to leave the load generator
// and PostgreSQL cores of their own.
var Reference = map[Shape]float64{{1, 8}: 5747, {2, 4}: 5412, {4, 2}: 5004, {8, 1}: 3926}

// ParseShape takes "2x4" or "2×4".
func ParseShape(text string) (Shape, error) {
	at := slices.IndexFunc(Shapes, func(s Shape) bool {
		return text == s.String() || text == fmt.Sprintf("%dx%d", s.Instances, s.Cores)
	})
	if at < 0 {
		return Shape{}, fmt.Errorf("%q is none of 1x8, 2x4, 4x2 and 8x1", text)
	}
	return Shapes[at], nil
}
