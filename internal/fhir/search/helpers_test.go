package search

import "unicode"

var asciiRange = &unicode.RangeTable{R16: []unicode.Range16{{Lo: 0, Hi: 127, Stride: 1}}, LatinOffset: 1}
